//! The device everything runs on.

use crate::GpuError;
#[cfg(not(target_arch = "wasm32"))]
use crate::kernel::text::Order;
use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
#[cfg(not(target_arch = "wasm32"))]
use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
    time::Duration,
};

/// A device and its queue, opened here or lent by the caller. Cloning shares them.
///
/// A lost device stays lost: each call answers [`GpuError::Lost`], and a new context has to be opened. wgpu reports a
/// loss by a panic, which is caught here. So that it is not printed either, the first device that is opened or waited for
/// puts a panic hook before the program's own, which passes on every other panic. A program whose panics abort ends with
/// its device.
#[derive(Clone, Debug)]
pub struct Context {
    device: wgpu::Device,
    queue: wgpu::Queue,
    name: String,
    info: Option<wgpu::AdapterInfo>,
    trouble: Arc<Mutex<Trouble>>,
    given: Arc<[AtomicU64; 2]>,
    #[cfg(not(target_arch = "wasm32"))]
    order: Order,
}

/// What a device was given to do so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Compute pipelines that were built.
    pub pipelines: u64,
    /// Dispatches that were encoded.
    pub dispatches: u64,
}

/// What the device said outside any call.
#[derive(Debug, Default)]
struct Trouble {
    /// Why it is lost, for good.
    lost: Option<String>,
    /// The first error that no scope caught; the next call gives it to the caller.
    uncaptured: Option<String>,
}

impl Context {
    /// Opens the fastest hardware adapter there is. A software adapter computes the same as the CPU, but more slowly, so
    /// it is taken only when it is asked for, by `named` or [`open`](Self::open).
    ///
    /// # Errors
    /// `NoAdapter`, `OnlySoftware`, `NoDevice`, `Limits`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Result<Self, GpuError> {
        pollster::block_on(Self::new_async())
    }

    /// As `new`, also on the web.
    ///
    /// # Errors
    /// `NoAdapter`, `OnlySoftware`, `NoDevice`, `Limits`.
    pub async fn new_async() -> Result<Self, GpuError> {
        Self::best_async(false).await
    }

    /// The same, but a software adapter is taken where there is no other: for browsers, which do not name their adapters.
    ///
    /// # Errors
    /// `NoAdapter`, `NoDevice`, `Limits`.
    pub async fn any_async() -> Result<Self, GpuError> {
        Self::best_async(true).await
    }

    async fn best_async(software: bool) -> Result<Self, GpuError> {
        let instance = instance()?;
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        // Software comes last in wgpu's order.
        let adapter = instance.request_adapter(&options).await.map_err(|_| GpuError::NoAdapter)?;
        if is_software(&adapter.get_info()) && !software {
            let adapters = instance.enumerate_adapters(wgpu::Backends::all()).await;
            return Err(GpuError::OnlySoftware { names: names(&adapters) });
        }
        Self::open(&adapter).await
    }

    /// Opens the first adapter whose name contains `part`, in small or capital letters; software adapters count.
    /// (Browsers do not name their adapters.)
    ///
    /// # Errors
    /// `NotFound`, `NoAdapter`, `NoDevice`, `Limits`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn named(part: &str) -> Result<Self, GpuError> {
        let adapters = pollster::block_on(instance()?.enumerate_adapters(wgpu::Backends::all()));
        let wanted = part.to_lowercase();
        match adapters.iter().find(|adapter| adapter.get_info().name.to_lowercase().contains(&wanted)) {
            Some(adapter) => pollster::block_on(Self::open(adapter)),
            None if adapters.is_empty() => Err(GpuError::NoAdapter),
            None => Err(GpuError::NotFound { part: part.to_string(), names: names(&adapters) }),
        }
    }

    /// Opens the first software adapter.
    ///
    /// # Errors
    /// `NoAdapter` when there is none, `NoDevice`, `Limits`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn software() -> Result<Self, GpuError> {
        let adapters = pollster::block_on(instance()?.enumerate_adapters(wgpu::Backends::all()));
        let first = adapters.iter().find(|adapter| is_software(&adapter.get_info())).ok_or(GpuError::NoAdapter)?;
        pollster::block_on(Self::open(first))
    }

    /// Opens a device of this adapter, with the adapter's own buffer limits.
    ///
    /// # Errors
    /// `NoDevice`, `Limits`.
    pub async fn open(adapter: &wgpu::Adapter) -> Result<Self, GpuError> {
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("undercurve"),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        // wgpu builds a few shaders of its own here, and panics where the driver cannot.
        let request =
            quietly(|| adapter.request_device(&descriptor)).map_err(|message| GpuError::NoDevice { message })?;
        let (device, queue) = request.await.map_err(|error| GpuError::NoDevice { message: error.to_string() })?;
        let info = adapter.get_info();
        let mut context = Self::lent(device, queue)?;
        let trouble = Arc::clone(&context.trouble);
        context.device.set_device_lost_callback(move |reason, message| {
            if let Ok(mut trouble) = trouble.lock() {
                trouble.lost.get_or_insert(if message.is_empty() { format!("{reason:?}") } else { message });
            }
        });
        // Without a handler wgpu panics over an error that no scope catches.
        let trouble = Arc::clone(&context.trouble);
        context.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            if let Ok(mut trouble) = trouble.lock() {
                trouble.uncaptured.get_or_insert(error.to_string());
            }
        }));
        context.name = format!("{} ({:?}, {:?})", info.name, info.device_type, info.backend);
        context.info = Some(info);
        Ok(context)
    }

    /// Uses a device and queue of the caller's. Its lost callback and uncaptured errors stay the caller's to handle;
    /// calls here report what they meet.
    ///
    /// # Errors
    /// `Limits`.
    pub fn lent(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, GpuError> {
        let limits = device.limits();
        let least = [
            ("max_storage_buffers_per_shader_stage", limits.max_storage_buffers_per_shader_stage.into(), 8u64),
            ("max_compute_workgroup_storage_size", limits.max_compute_workgroup_storage_size.into(), 16_384),
            ("max_compute_invocations_per_workgroup", limits.max_compute_invocations_per_workgroup.into(), 256),
            ("max_compute_workgroups_per_dimension", limits.max_compute_workgroups_per_dimension.into(), 16_384),
            ("max_storage_buffer_binding_size", limits.max_storage_buffer_binding_size, 128 << 20),
        ];
        for (what, got, need) in least {
            if got < need {
                return Err(GpuError::Limits { what, need, got });
            }
        }
        Ok(Self {
            device,
            queue,
            name: "lent device".to_string(),
            info: None,
            trouble: Arc::default(),
            given: Arc::default(),
            #[cfg(not(target_arch = "wasm32"))]
            order: Order::default(),
        })
    }

    /// What computes, for display: name, kind and interface.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the adapter that was opened computes on the CPU. `false` for a lent device, which does not say.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.info.as_ref().is_some_and(is_software)
    }

    /// The adapter that was opened, with its driver. `None` for a lent device, which does not say.
    #[must_use]
    pub fn info(&self) -> Option<&wgpu::AdapterInfo> {
        self.info.as_ref()
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Its queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// What the engines of this crate gave it to do so far, by any clone of this context.
    #[must_use]
    pub fn given(&self) -> Given {
        let [pipelines, dispatches] = [0, 1].map(|at| self.given[at].load(Ordering::Relaxed));
        Given { pipelines, dispatches }
    }

    /// The same device, whose invocations take each other's work in another order: for tests, since software runs them one after the
    /// other, so that a missing barrier shows in one order and not in another.
    #[cfg(not(target_arch = "wasm32"))]
    #[doc(hidden)]
    #[must_use]
    pub fn in_order(&self, order: Order) -> Self {
        Self { order, ..self.clone() }
    }

    /// The module of a text.
    pub(crate) fn module(&self, label: &'static str, text: String) -> wgpu::ShaderModule {
        #[cfg(not(target_arch = "wasm32"))]
        let text = crate::kernel::text::in_order(text, self.order);
        let source = wgpu::ShaderSource::Wgsl(Cow::Owned(text));
        self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source })
    }

    /// Builds a pipeline.
    pub(crate) fn pipeline(&self, descriptor: &wgpu::ComputePipelineDescriptor<'_>) -> wgpu::ComputePipeline {
        self.given[0].fetch_add(1, Ordering::Relaxed);
        self.device.create_compute_pipeline(descriptor)
    }

    /// Encodes a dispatch.
    pub(crate) fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, [x, y, z]: [u32; 3]) {
        self.given[1].fetch_add(1, Ordering::Relaxed);
        pass.dispatch_workgroups(x, y, z);
    }

    /// Bytes that one binding of this device holds.
    pub(crate) fn binding(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    /// Runs `work` and returns what the device has to say about it. A lost device is not given any.
    pub(crate) async fn checked<R>(&self, work: impl FnOnce() -> R) -> Result<R, GpuError> {
        self.alive()?;
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let result = work();
        let (internal, validation, memory) = (internal.pop(), validation.pop(), memory.pop());
        let errors = [internal.await, validation.await, memory.await];
        match errors.into_iter().flatten().next() {
            Some(error) => Err(self.failure(error.to_string())),
            None => self.alive().map(|()| result),
        }
    }

    /// What the device said outside any call, if it said something.
    pub(crate) fn alive(&self) -> Result<(), GpuError> {
        let Ok(mut trouble) = self.trouble.lock() else { return Ok(()) };
        if let Some(message) = trouble.lost.clone() {
            return Err(GpuError::Lost { message });
        }
        trouble.uncaptured.take().map_or(Ok(()), |message| Err(GpuError::Device { message }))
    }

    /// `Lost` when the device is, whatever else it says, or else `Device`.
    fn failure(&self, message: String) -> GpuError {
        if let Err(lost @ GpuError::Lost { .. }) = self.alive() {
            return lost;
        }
        GpuError::Device { message }
    }

    /// The device is lost from now on; what its lost callback said comes first.
    #[cfg(not(target_arch = "wasm32"))]
    fn lose(&self, message: String) -> GpuError {
        if let Ok(mut trouble) = self.trouble.lock() {
            trouble.lost.get_or_insert_with(|| message.clone());
        }
        self.failure(message)
    }

    /// Waits for the work submitted so far, or up to a submission, but no longer than `limit`.
    #[cfg(not(target_arch = "wasm32"))]
    fn wait(&self, submission_index: Option<wgpu::SubmissionIndex>, limit: Duration) -> Result<(), GpuError> {
        let poll = || self.device.poll(wgpu::PollType::Wait { submission_index, timeout: Some(limit) });
        match quietly(poll) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => {
                // The last handle of a queue waits without a limit when it is dropped, so these are never dropped.
                std::mem::forget((self.device.clone(), self.queue.clone()));
                Err(self.lose(format!("it gave no answer for {} s", limit.as_secs())))
            }
            Err(message) => Err(self.lose(message)),
        }
    }

    /// Waits until all work submitted so far is done, which takes a slow device no longer than so many seconds and a minute.
    ///
    /// # Errors
    /// `Lost`; `Device` with the first error that no call has given to its caller.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn idle(&self, seconds: u64) -> Result<(), GpuError> {
        self.alive()?;
        self.wait(None, Duration::from_secs(60 + seconds))?;
        self.alive()
    }

    /// The floats of a buffer that can be mapped, after the work submitted so far, which is about so many pairs.
    pub(crate) async fn read(&self, buffer: &wgpu::Buffer, floats: usize, pairs: u64) -> Result<Vec<f32>, GpuError> {
        let mapped = self.map(buffer, floats);
        #[cfg(not(target_arch = "wasm32"))]
        {
            // A minute, and a second for as many pairs as any device computes in a fraction of one.
            self.wait(None, Duration::from_secs(60 + pairs / 10_000_000))?;
            // It has been answered by now; if not, nobody will.
            mapped.set(false);
        }
        #[cfg(target_arch = "wasm32")]
        let _ = pairs; // the browser watches its devices
        let mapped = mapped.await;
        self.take(buffer, floats, mapped)
    }

    /// Asks for a buffer's floats, after the work submitted so far.
    pub(crate) fn map(&self, buffer: &wgpu::Buffer, floats: usize) -> Signal {
        let mapped = Signal::default();
        let done = mapped.clone();
        buffer.map_async(wgpu::MapMode::Read, 0..4 * floats as u64, move |result| done.set(result.is_ok()));
        mapped
    }

    /// The floats that were asked for, once that was answered.
    pub(crate) fn take(&self, buffer: &wgpu::Buffer, floats: usize, mapped: bool) -> Result<Vec<f32>, GpuError> {
        if !mapped {
            return Err(self.failure("a buffer could not be read".to_string()));
        }
        let view = buffer.get_mapped_range(0..4 * floats as u64).map_err(|error| self.failure(error.to_string()))?;
        let mut out = vec![0.0f32; floats];
        bytemuck::cast_slice_mut::<f32, u8>(&mut out).copy_from_slice(&view);
        drop(view);
        buffer.unmap();
        Ok(out)
    }

    /// Submits work that can be waited for apart from what follows it.
    pub(crate) fn submit(&self, commands: wgpu::CommandBuffer) -> Submitted {
        let index = self.queue.submit([commands]);
        let done = Signal::default();
        let signal = done.clone();
        self.queue.on_submitted_work_done(move || signal.set(true));
        Submitted { index, done }
    }

    /// Waits for submitted work, which takes a slow device no longer than so many seconds.
    pub(crate) async fn finish(&self, work: Submitted, seconds: u64) -> Result<(), GpuError> {
        #[cfg(not(target_arch = "wasm32"))]
        {
            self.wait(Some(work.index), Duration::from_secs(60 + seconds))?;
            work.done.set(true);
        }
        #[cfg(target_arch = "wasm32")]
        drop((work.index, seconds));
        work.done.await;
        self.alive()
    }

    /// Lets what is finished be answered, without waiting.
    pub(crate) fn look_up(&self) -> Result<(), GpuError> {
        #[cfg(not(target_arch = "wasm32"))]
        if let Err(message) = quietly(|| self.device.poll(wgpu::PollType::Poll)) {
            return Err(self.lose(message));
        }
        self.alive()
    }
}

/// Work on its way.
#[derive(Debug)]
pub(crate) struct Submitted {
    index: wgpu::SubmissionIndex,
    done: Signal,
}

/// wgpu, where it was built with a graphics interface.
fn instance() -> Result<wgpu::Instance, GpuError> {
    if wgpu::Instance::enabled_backend_features().is_empty() {
        return Err(GpuError::NoAdapter);
    }
    Ok(wgpu::Instance::default())
}

fn is_software(info: &wgpu::AdapterInfo) -> bool {
    info.device_type == wgpu::DeviceType::Cpu
}

fn names(adapters: &[wgpu::Adapter]) -> Vec<String> {
    adapters.iter().map(|adapter| adapter.get_info().name).collect()
}

/// What `work` returns. Browsers answer by errors.
#[cfg(target_arch = "wasm32")]
fn quietly<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    Ok(work())
}

/// What `work` returns, or the words of its panic, which are not printed.
#[cfg(not(target_arch = "wasm32"))]
fn quietly<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    thread_local! {
        static QUIET: Cell<bool> = const { Cell::new(false) };
    }
    static HOOK: Once = Once::new();
    // (A thread that is unwinding may not change the hook.)
    if !std::thread::panicking() {
        HOOK.call_once(|| {
            let usual = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if !QUIET.get() {
                    usual(info);
                }
            }));
        });
    }
    QUIET.set(true);
    // Nothing of ours changes during the work, and a device that panicked is not used again.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked").to_string()
    })
}

/// One yes or no that arrives later; the first counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal(Arc<Mutex<(Option<bool>, Option<Waker>)>>);

impl Signal {
    /// What arrived, if it has.
    pub(crate) fn get(&self) -> Option<bool> {
        self.0.lock().ok().and_then(|state| state.0)
    }
    fn set(&self, value: bool) {
        if let Ok(mut state) = self.0.lock() {
            state.0.get_or_insert(value);
            if let Some(waker) = state.1.take() {
                waker.wake();
            }
        }
    }
}

impl Future for Signal {
    type Output = bool;
    fn poll(self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<bool> {
        let Ok(mut state) = self.0.lock() else { return Poll::Ready(false) };
        match state.0 {
            Some(value) => Poll::Ready(value),
            None => {
                state.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
