//! What the library takes of the system: the message of a thread, locks, and the end of a panic. With the feature `bare` they and
//! the memory are the C library's; else Rust's standard library has them, of which a shared library holds 190 KB more.

#[cfg(not(feature = "bare"))]
pub use with_std::*;

#[cfg(feature = "bare")]
pub use bare::*;

#[cfg(all(feature = "bare", feature = "trainer"))]
pub use locks::Mutex;

#[cfg(not(feature = "bare"))]
mod with_std {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    thread_local! {
        static LAST: RefCell<String> = const { RefCell::new(String::new()) };
    }

    /// What `of` makes of this thread's last message; nothing in a thread that is at its end.
    pub fn with_message<U>(of: impl FnOnce(&mut String) -> U) -> Option<U> {
        LAST.try_with(|last| of(&mut last.borrow_mut())).ok()
    }

    /// What `body` gives; nothing where it panics.
    pub fn caught<U>(body: impl FnOnce() -> U) -> Option<U> {
        catch_unwind(AssertUnwindSafe(body)).ok()
    }

    /// Of one thread at a time.
    #[cfg(feature = "trainer")]
    pub struct Mutex<T>(std::sync::Mutex<T>);

    #[cfg(feature = "trainer")]
    impl<T> Mutex<T> {
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }
        /// The value; nothing where a panic left it half changed.
        pub fn lock(&self) -> Option<impl core::ops::DerefMut<Target = T>> {
            self.0.lock().ok()
        }
    }
}

#[cfg(feature = "bare")]
mod bare {
    #[cfg(not(all(target_os = "linux", panic = "abort")))]
    compile_error!("the feature `bare` is for Linux, in a profile with panic = \"abort\", as `embedded` is");

    use alloc::boxed::Box;
    use alloc::string::String;
    use core::alloc::{GlobalAlloc, Layout};
    use core::fmt::Write;
    use core::sync::atomic::{AtomicU32, Ordering};

    #[link(name = "c")]
    unsafe extern "C" {
        fn abort() -> !;
        fn malloc(size: usize) -> *mut u8;
        fn calloc(count: usize, size: usize) -> *mut u8;
        fn realloc(at: *mut u8, size: usize) -> *mut u8;
        fn aligned_alloc(align: usize, size: usize) -> *mut u8;
        fn free(at: *mut u8);
        fn write(file: i32, from: *const u8, count: usize) -> isize;
    }

    #[link(name = "pthread")]
    unsafe extern "C" {
        fn pthread_key_create(key: *mut u32, end: unsafe extern "C" fn(*mut u8)) -> i32;
        fn pthread_key_delete(key: u32) -> i32;
        fn pthread_getspecific(key: u32) -> *mut u8;
        fn pthread_setspecific(key: u32, value: *const u8) -> i32;
    }

    struct Memory;

    /// Whether `malloc` gives memory of such an alignment.
    fn plain(layout: Layout) -> bool {
        layout.align() <= 2 * size_of::<usize>()
    }

    // SAFETY: the functions of C keep these promises; what is aligned further has a size that is a multiple of its alignment.
    unsafe impl GlobalAlloc for Memory {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: of more than 0 bytes.
            unsafe {
                if plain(layout) {
                    malloc(layout.size())
                } else {
                    aligned_alloc(layout.align(), layout.pad_to_align().size())
                }
            }
        }
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the same; all bytes of what is aligned further are written.
            unsafe {
                if plain(layout) {
                    return calloc(1, layout.size());
                }
                let at = self.alloc(layout);
                if !at.is_null() {
                    at.write_bytes(0, layout.size());
                }
                at
            }
        }
        unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: `at` is from `alloc`, of `layout`.
            unsafe {
                if plain(layout) {
                    return realloc(at, size);
                }
                let to = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                if !to.is_null() {
                    to.copy_from_nonoverlapping(at, layout.size().min(size));
                    free(at);
                }
                to
            }
        }
        unsafe fn dealloc(&self, at: *mut u8, _: Layout) {
            // SAFETY: `at` is from `alloc`.
            unsafe { free(at) }
        }
    }

    #[global_allocator]
    static MEMORY: Memory = Memory;

    struct Stderr;

    impl Write for Stderr {
        fn write_str(&mut self, text: &str) -> core::fmt::Result {
            // SAFETY: so many bytes.
            unsafe { write(2, text.as_ptr(), text.len()) };
            Ok(())
        }
    }

    #[panic_handler]
    fn panicked(info: &core::panic::PanicInfo<'_>) -> ! {
        let _ = writeln!(Stderr, "undercurve: {info}");
        // SAFETY: it takes nothing.
        unsafe { abort() }
    }

    // Tables of the parts of Rust that came compiled refer to it. Nothing unwinds, so nothing calls it; and no program sees it.
    core::arch::global_asm!(
        ".weak rust_eh_personality",
        ".hidden rust_eh_personality",
        "rust_eh_personality:",
        ".byte 0"
    );

    const NO_KEY: u32 = u32::MAX;
    /// Of the message of each thread.
    static KEY: AtomicU32 = AtomicU32::new(NO_KEY);

    unsafe extern "C" fn end(message: *mut u8) {
        // SAFETY: made by `with_message`, whose thread is at its end.
        drop(unsafe { Box::from_raw(message.cast::<String>()) });
    }

    fn key() -> Option<u32> {
        let known = KEY.load(Ordering::Acquire);
        if known != NO_KEY {
            return Some(known);
        }
        let mut made = 0;
        // SAFETY: a place for a key.
        if unsafe { pthread_key_create(&raw mut made, end) } != 0 {
            return None;
        }
        match KEY.compare_exchange(NO_KEY, made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(made),
            Err(first) => {
                // SAFETY: made above, and nobody else has it.
                unsafe { pthread_key_delete(made) };
                Some(first)
            }
        }
    }

    /// What `of` makes of this thread's last message; nothing where threads cannot have one.
    pub fn with_message<U>(of: impl FnOnce(&mut String) -> U) -> Option<U> {
        let key = key()?;
        // SAFETY: this thread's alone, from here to `end`.
        unsafe {
            let mut at = pthread_getspecific(key);
            if at.is_null() {
                at = Box::into_raw(Box::<String>::default()).cast();
                if pthread_setspecific(key, at) != 0 {
                    end(at);
                    return None;
                }
            }
            Some(of(&mut *at.cast::<String>()))
        }
    }

    /// What `body` gives. (A panic ends the program.)
    pub fn caught<U>(body: impl FnOnce() -> U) -> Option<U> {
        Some(body())
    }
}

#[cfg(all(feature = "bare", feature = "trainer"))]
mod locks {
    use core::cell::UnsafeCell;
    use core::ops::{Deref, DerefMut};

    #[link(name = "pthread")]
    unsafe extern "C" {
        fn pthread_mutex_lock(mutex: *mut RawMutex) -> i32;
        fn pthread_mutex_unlock(mutex: *mut RawMutex) -> i32;
    }

    /// `pthread_mutex_t`: at most 48 bytes on Linux, and zeros when it is new.
    #[repr(C, align(8))]
    struct RawMutex([u8; 64]);

    /// Of one thread at a time.
    pub struct Mutex<T> {
        raw: UnsafeCell<RawMutex>,
        value: UnsafeCell<T>,
    }

    // SAFETY: the value is reached with the lock alone.
    unsafe impl<T: Send> Send for Mutex<T> {}
    // SAFETY: the same.
    unsafe impl<T: Send> Sync for Mutex<T> {}

    pub struct Guard<'a, T>(&'a Mutex<T>);

    impl<T> Mutex<T> {
        pub const fn new(value: T) -> Self {
            Self { raw: UnsafeCell::new(RawMutex([0; 64])), value: UnsafeCell::new(value) }
        }
        /// The value. (It is never half changed.)
        pub fn lock(&self) -> Option<Guard<'_, T>> {
            // SAFETY: where it is shared it does not move.
            unsafe { pthread_mutex_lock(self.raw.get()) };
            Some(Guard(self))
        }
    }

    impl<T> Deref for Guard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            // SAFETY: with the lock.
            unsafe { &*self.0.value.get() }
        }
    }

    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: with the lock.
            unsafe { &mut *self.0.value.get() }
        }
    }

    impl<T> Drop for Guard<'_, T> {
        fn drop(&mut self) {
            // SAFETY: this thread has it.
            unsafe { pthread_mutex_unlock(self.0.raw.get()) };
        }
    }
}
