//! Steps over many workgroups: buffers, pipelines, and what is dispatched.

use super::setup::{JOB, bind_all, bindings_of, jobs, pipeline, storage};
use super::{DISPATCHES, IDLE, Shared};
use crate::context::Context;
use crate::kernel::wide::{self, Dispatch, ENTRIES, StageUniform};
use wgpu::{BindGroup, Buffer, ComputePipeline};

/// Steps of all runs that are loaded at a time, at most.
const JOBS: usize = 1024;

#[derive(Debug)]
pub(super) struct Wide {
    wide: wide::Wide,
    runs: usize,
    pub numbers: Vec<[f32; 24]>,
    /// Of a step of a run, and of the last one, which has a value.
    dispatches: [Vec<Dispatch>; 2],
    /// By [`wide::Entry`].
    pipelines: Vec<Option<ComputePipeline>>,
    jobs: Buffer,
    group: BindGroup,
    /// Of those that are loaded, the first whose value is asked for.
    valued: u64,
}

/// The uniform of a step of a run, as wide/step.wgsl has it.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Job {
    list: u32,
    base: u32,
    run: u32,
    pad: u32,
    rates: [f32; 4],
    numbers: [f32; 24],
}

impl Wide {
    /// Steps that are loaded at a time.
    pub fn window(runs: usize) -> usize {
        (JOBS / runs.max(1)).clamp(1, 4 * DISPATCHES)
    }

    /// Builds what every step needs.
    pub fn new(context: &Context, wide: wide::Wide, text: String, shared: Shared<'_>) -> Self {
        let device = context.device();
        let Shared { runs, window, rows, lists, state, values } = shared;
        let module = context.module("wide", text);
        let bindings = bindings_of(device, 2, 10, 4);
        let dispatches = [wide.dispatches(false), wide.dispatches(true)];
        let pipelines = ENTRIES.map(|(entry, name)| {
            let used = dispatches[1].iter().any(|dispatch| dispatch.entry == entry);
            used.then(|| pipeline(context, &module, &bindings, name))
        });
        let own = wide.stages();
        let batch = wide.layout.shape.rows as usize;
        let (loaded, stages) = (jobs(device, runs * window, "jobs"), jobs(device, own.len(), "stages"));
        let mut bytes = vec![0; JOB as usize * own.len()];
        for (slot, stage) in bytes.chunks_exact_mut(JOB as usize).zip(&own) {
            slot[..size_of::<StageUniform>()].copy_from_slice(bytemuck::bytes_of(stage));
        }
        context.queue().write_buffer(&stages, 0, &bytes);
        let work = storage(device, "activations", wide.work as usize);
        let [h, c, staged] = [1, 1, 4].map(|each| storage(device, "rows of a batch", each * batch));
        let uniforms = [(&loaded, size_of::<Job>()), (&stages, size_of::<StageUniform>())];
        let buffers = [rows, lists, state, &work, &h, &c, &staged, values];
        let group = bind_all(device, &bindings, &uniforms, &buffers);
        let (numbers, pipelines) = (vec![[0.0; 24]; runs], pipelines.into());
        Self { wide, runs, numbers, dispatches, pipelines, jobs: loaded, group, valued: 0 }
    }

    /// Loads steps whose lists are on the device, step by step of each run that is not idle: how many in all.
    pub fn prepare(
        &mut self,
        queue: &wgpu::Queue,
        steps: usize,
        table: &[u32],
        pace: &[f32],
        list_len: usize,
        last: bool,
    ) -> u64 {
        let busy: Vec<usize> = (0..self.runs).filter(|&run| table[run] != IDLE).collect();
        let mut bytes = vec![0; JOB as usize * steps * busy.len()];
        for (at, slot) in bytes.chunks_exact_mut(JOB as usize).enumerate() {
            let (step, run) = (at / busy.len(), busy[at % busy.len()]);
            let [lr, other] = [0, 1].map(|k| pace[2 * (run * steps + step) + k]);
            let job = Job {
                list: ((table[run] as usize * steps + step) * list_len) as u32,
                base: run as u32 * self.wide.layout.shape.state,
                run: run as u32,
                pad: 0,
                rates: [lr, other, 0.0, 0.0],
                numbers: self.numbers[run],
            };
            slot[..size_of::<Job>()].copy_from_slice(bytemuck::bytes_of(&job));
        }
        queue.write_buffer(&self.jobs, 0, &bytes);
        let jobs = (steps * busy.len()) as u64;
        self.valued = if last { jobs - busy.len() as u64 } else { jobs };
        jobs
    }

    /// So many of the loaded steps.
    pub fn encode(&self, context: &Context, encoder: &mut wgpu::CommandEncoder, from: u64, count: u64) {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for job in from..from + count {
            for &Dispatch { entry, stage, groups } in &self.dispatches[usize::from(job >= self.valued)] {
                let Some(pipeline) = &self.pipelines[entry as usize] else { continue };
                pass.set_pipeline(pipeline);
                pass.set_bind_group(0, &self.group, &[job as u32 * JOB as u32, stage * JOB as u32]);
                context.dispatch(&mut pass, groups);
            }
        }
    }

    /// Multiply-adds of a step, about.
    pub fn work(&self) -> u64 {
        let shape = &self.wide.layout.shape;
        let rows = u64::from(shape.rows);
        rows * (3 * u64::from(shape.params) + 8 * rows)
    }
}
