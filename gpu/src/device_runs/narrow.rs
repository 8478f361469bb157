//! Steps by one workgroup a run: buffers, pipelines, and what is dispatched.

use super::report::Test;
use super::setup::{Buffers, JOB, Job, bind, bindings, jobs, pipeline, storage};
use super::{DISPATCHES, Shared};
use crate::context::Context;
use crate::kernel::narrow::Rounds;
use wgpu::{BindGroup, BindGroupLayout, ComputePipeline, ShaderModule};

#[derive(Debug)]
pub(super) struct Narrow {
    pub rounds: Rounds,
    pub module: ShaderModule,
    advance: ComputePipeline,
    pub bindings: BindGroupLayout,
    pub buffers: Buffers,
    group: BindGroup,
}

impl Narrow {
    /// Builds what every step needs; `own` are names and words of the numbers and the activations.
    pub fn new(
        context: &Context,
        rounds: Rounds,
        text: String,
        own: &[(&'static str, usize); 2],
        shared: Shared<'_>,
    ) -> Self {
        let Shared { runs, window, rows, lists, state, values } = shared;
        let device = context.device();
        let module = context.module("narrow", text);
        let bindings = bindings(device);
        let buffers = Buffers {
            jobs: jobs(device, DISPATCHES, "jobs"),
            lists: lists.clone(),
            table: storage(device, "runs", runs),
            numbers: storage(device, own[0].0, own[0].1),
            pace: storage(device, "paces", 2 * runs * window),
            state: state.clone(),
            work: storage(device, own[1].0, own[1].1),
        };
        let group = bind(device, &bindings, &buffers, rows, values);
        let advance = pipeline(context, &module, &bindings, "advance");
        Self { rounds, module, advance, bindings, buffers, group }
    }

    /// So many steps of all runs from that of a job on, or blocks of the rows of a test, of so many units each, at most `most` a dispatch.
    pub fn encode(
        &self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        (runs, test): (usize, Option<&Test>),
        job: Job,
        (count, most, unit): (u64, u64, u32),
    ) {
        let mut bytes = Vec::new();
        let mut dispatches = 0;
        for from in (0..count).step_by(most as usize) {
            let steps = most.min(count - from) as u32;
            let job = Job { first: (job.first + from as u32) * unit, steps, ..job };
            bytes.resize(JOB as usize * dispatches, 0);
            bytes.extend_from_slice(bytemuck::bytes_of(&job));
            dispatches += 1;
        }
        context.queue().write_buffer(&self.buffers.jobs, 0, &bytes);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let (pipeline, group) = test.map_or((&self.advance, &self.group), |test| (&test.look, &test.group));
        pass.set_pipeline(pipeline);
        for dispatch in 0..dispatches {
            pass.set_bind_group(0, group, &[dispatch as u32 * JOB as u32]);
            context.dispatch(&mut pass, [runs as u32, 1, 1]);
        }
    }
}
