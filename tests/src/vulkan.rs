//! The Vulkan layer of `tests/vulkan-fault`, which makes a driver fail.

use std::path::{Path, PathBuf};
use std::process::Command;

const NAME: &str = "VK_LAYER_UNDERCURVE_fault";

/// The layer, built.
#[derive(Debug)]
pub struct FaultLayer {
    folder: PathBuf,
}

impl FaultLayer {
    /// Builds the layer in a folder. `None`, and the test counts as [`skipped`](crate::skipped), where it cannot be built.
    pub fn build(folder: &Path) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            crate::skipped("the Vulkan layer that makes drivers fail is for Linux");
            return None;
        }
        let (library, source) =
            (folder.join("libfault.so"), concat!(env!("CARGO_MANIFEST_DIR"), "/vulkan-fault/layer.c"));
        let compile = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).output();
        let Ok(compile) = compile else {
            crate::skipped("no C compiler (cc) for the Vulkan layer that makes drivers fail");
            return None;
        };
        assert!(compile.status.success(), "{}", String::from_utf8_lossy(&compile.stderr));
        let manifest = serde_json::json!({
            "file_format_version": "1.0.0",
            "layer": {
                "name": NAME,
                "type": "GLOBAL",
                "library_path": library,
                "api_version": "1.3.0",
                "implementation_version": "1",
                "description": "makes a driver fail",
            },
        });
        std::fs::write(folder.join("fault.json"), manifest.to_string()).unwrap();
        Some(Self { folder: folder.to_path_buf() })
    }

    /// Runs the command with a driver that has a fault (`lose`, `stall`, `refuse`, `drop`) after so many calls that go well.
    pub fn give<'a>(&self, command: &'a mut Command, fault: &str, after: u32) -> &'a mut Command {
        command.env("VK_LAYER_PATH", &self.folder).env("VK_INSTANCE_LAYERS", NAME);
        command.env("UNDERCURVE_FAULT", fault).env("UNDERCURVE_FAULT_AFTER", after.to_string())
    }
}
