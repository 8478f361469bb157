//! Ctrl-C and SIGTERM.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

/// What Ctrl-C and SIGTERM set, with the exit codes of both. A second one ends the program where it stands.
static STOP: LazyLock<[(u8, Arc<AtomicBool>); 2]> = LazyLock::new(|| {
    [SIGINT, SIGTERM].map(|signal| {
        let (code, flag) = (128 + signal, Arc::new(AtomicBool::new(false)));
        // (Without a handler the first one does.)
        let _ = flag::register_conditional_shutdown(signal, code, flag.clone());
        let _ = flag::register(signal, flag.clone());
        (code as u8, flag)
    })
});

/// Has Ctrl-C and SIGTERM set [`stopped`].
pub fn listen() {
    LazyLock::force(&STOP);
}

/// The exit code of the signal that came, if one did.
pub fn stopped() -> Option<u8> {
    STOP.iter().find(|(_, flag)| flag.load(Ordering::SeqCst)).map(|(code, _)| *code)
}
