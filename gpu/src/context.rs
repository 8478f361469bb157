//! The device everything runs on.

use crate::GpuError;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// A device and its queue, opened here or lent by the caller. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Context {
    device: wgpu::Device,
    queue: wgpu::Queue,
    name: String,
    lost: Arc<Mutex<Option<String>>>,
}

impl Context {
    /// Opens the fastest adapter there is, a software one when nothing else is.
    ///
    /// # Errors
    /// `NoAdapter`, `NoDevice`, `Limits`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new() -> Result<Self, GpuError> {
        pollster::block_on(Self::new_async())
    }

    /// As [`new`](Self::new), also on the web.
    ///
    /// # Errors
    /// `NoAdapter`, `NoDevice`, `Limits`.
    pub async fn new_async() -> Result<Self, GpuError> {
        if wgpu::Instance::enabled_backend_features().is_empty() {
            return Err(GpuError::NoAdapter);
        }
        let instance = wgpu::Instance::default();
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = instance.request_adapter(&options).await.map_err(|_| GpuError::NoAdapter)?;
        Self::open(&adapter).await
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
        let (device, queue) = adapter
            .request_device(&descriptor)
            .await
            .map_err(|error| GpuError::NoDevice { message: error.to_string() })?;
        let info = adapter.get_info();
        let lost = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, message| {
            if let Ok(mut lost) = seen.lock() {
                *lost = Some(message);
            }
        });
        let mut context = Self::lent(device, queue)?;
        context.lost = lost;
        context.name = format!("{} ({:?}, {:?})", info.name, info.device_type, info.backend);
        Ok(context)
    }

    /// Uses a device and queue of the caller's. Its loss and uncaptured errors stay the caller's to handle; calls here
    /// report what they meet.
    ///
    /// # Errors
    /// `Limits`.
    pub fn lent(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, GpuError> {
        let limits = device.limits();
        let least = [
            ("max_storage_buffers_per_shader_stage", limits.max_storage_buffers_per_shader_stage.into(), 5u64),
            ("max_compute_workgroup_storage_size", limits.max_compute_workgroup_storage_size.into(), 2048),
            ("max_compute_invocations_per_workgroup", limits.max_compute_invocations_per_workgroup.into(), 64),
            ("max_compute_workgroups_per_dimension", limits.max_compute_workgroups_per_dimension.into(), 16_384),
            ("max_storage_buffer_binding_size", limits.max_storage_buffer_binding_size, 128 << 20),
        ];
        for (what, got, need) in least {
            if got < need {
                return Err(GpuError::Limits { what, need, got });
            }
        }
        Ok(Self { device, queue, name: "lent device".to_string(), lost: Arc::default() })
    }

    /// What computes, for display: name, kind and interface.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
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

    /// Runs `work` and returns what the device has to say about it.
    pub(crate) async fn checked<R>(&self, work: impl FnOnce() -> R) -> Result<R, GpuError> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let result = work();
        let (validation, memory) = (validation.pop(), memory.pop());
        let error = match validation.await {
            Some(error) => Some(error),
            None => memory.await,
        };
        match error {
            Some(error) => Err(self.failure(error.to_string())),
            None => Ok(result),
        }
    }

    /// `Lost` when the device is, else `Device`.
    fn failure(&self, message: String) -> GpuError {
        match self.lost.lock().ok().and_then(|lost| lost.clone()) {
            Some(message) => GpuError::Lost { message },
            None => GpuError::Device { message },
        }
    }

    /// The floats of a buffer that can be mapped, after the work submitted so far.
    pub(crate) async fn read(&self, buffer: &wgpu::Buffer, floats: usize) -> Result<Vec<f32>, GpuError> {
        let bytes = 4 * floats as u64;
        let mapped = Signal::default();
        let done = mapped.clone();
        buffer.map_async(wgpu::MapMode::Read, 0..bytes, move |result| done.set(result.is_ok()));
        #[cfg(not(target_arch = "wasm32"))]
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| self.failure(error.to_string()))?;
        if !mapped.await {
            return Err(self.failure("a buffer could not be read".to_string()));
        }
        let view = buffer.get_mapped_range(0..bytes).map_err(|error| self.failure(error.to_string()))?;
        let mut out = vec![0.0f32; floats];
        bytemuck::cast_slice_mut::<f32, u8>(&mut out).copy_from_slice(&view);
        drop(view);
        buffer.unmap();
        Ok(out)
    }
}

/// One yes or no that arrives later.
#[derive(Clone, Default)]
struct Signal(Arc<Mutex<(Option<bool>, Option<Waker>)>>);

impl Signal {
    fn set(&self, value: bool) {
        if let Ok(mut state) = self.0.lock() {
            state.0 = Some(value);
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
