//! For tests of programs: a folder for each test, generated data, and what a program said.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

/// A folder of a test's own, gone with it.
#[derive(Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("undercurve-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The output of a program that succeeded.
pub fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Numbers in [0, 1) that are the same everywhere.
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    #[allow(clippy::should_implement_trait)] // it never ends
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }
}

/// A table of three columns, about a fifth of it positive.
pub fn csv(rows: usize) -> String {
    let mut numbers = Numbers(7);
    let mut text = String::from("a,b,colour,label\n");
    for row in 0..rows {
        let label = usize::from(row % 5 == 0);
        let (a, b) = (numbers.next() + 0.4 * label as f64, numbers.next() - 0.3 * label as f64);
        let colour = ["red", "green", "blue"][(numbers.next() * 3.0) as usize];
        text += &format!("{a},{b},{colour},{label}\n");
    }
    text
}
