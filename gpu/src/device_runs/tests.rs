//! What needs the inside of [`DeviceRuns`].

use super::*;
use crate::kernel::narrow::{self, MAX_ROWS};

fn shape(widths: &[u32], objective: &str, rule: &str) -> Shape {
    narrow::shape(widths, objective, rule).unwrap()
}

/// A text whose loops count their rounds, and answer with them.
fn counting(text: &str) -> String {
    let mut out = String::from("var<private> counted: u32;\n");
    for line in text.lines() {
        out.push_str(line);
        if line.trim_start().starts_with("for (") {
            out.push_str(" counted++;");
        }
        out.push('\n');
    }
    let answer = "if t == 0u { answer[run * max(job.rows, 1u)] = f32(counted); }\n";
    for (end, behind) in
        [("whole_step(t, run, step + 1u == job.steps);", true), ("storageBarrier();\n        workgroup", false)]
    {
        assert_eq!(out.matches(end).count(), 1);
        let at = out.rfind(end).unwrap() + if behind { end.len() } else { 0 };
        out.insert_str(at, answer);
    }
    out
}

/// A text whose entry points answer with the most rounds of any of their first invocations.
fn counting_entries(text: &str) -> String {
    let mut out = String::from("var<private> counted: u32;\n");
    let mut wrappers = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("@compute") {
            let head = lines.next().unwrap();
            let (name, rest) = head.strip_prefix("fn ").unwrap().split_once('(').unwrap();
            let (with, without) =
                ("@builtin(workgroup_id) group: vec3<u32>, ", "@builtin(local_invocation_index) t: u32) {");
            let (declared, given) = if rest == without {
                ("t: u32", "t")
            } else {
                assert_eq!(rest.strip_prefix(with), Some(without), "{head}");
                ("group: vec3<u32>, t: u32", "group, t")
            };
            out.push_str(&format!("fn inner_{name}({declared}) {{\n"));
            wrappers.push_str(&format!(
                "@compute @workgroup_size(256)\nfn {name}({with}{without}\n    inner_{name}({given});\n    \
                 if all(group == vec3<u32>(0u)) && t == 0u {{ answer[0] = max(answer[0], f32(counted)); }}\n}}\n"
            ));
            continue;
        }
        // (What it answers otherwise.)
        if line.contains("answer[job.run] = ") {
            continue;
        }
        out.push_str(line);
        if line.trim_start().starts_with("for (") {
            out.push_str(" counted++;");
        }
        out.push('\n');
    }
    out + &wrappers
}

fn first() -> Option<Context> {
    let adapters = pollster::block_on(wgpu::Instance::default().enumerate_adapters(wgpu::Backends::all()));
    let context = adapters.iter().find_map(|adapter| pollster::block_on(Context::open(adapter)).ok());
    if context.is_none() {
        undercurve_tests::skipped("no GPU driver found (on Debian: apt install mesa-vulkan-drivers)");
    }
    context
}

#[test]
fn cuts_change_no_bit() {
    let Some(context) = first() else { return };
    let shape = shape(&[2, 1], "soap", "momentum");
    let rows: Vec<f32> = (0..60).map(|k| (k * 37 % 60) as f32 / 60.0).collect();
    let (len, steps) = (shape.list_len(), 40);
    let entry = |k: usize| if k.is_multiple_of(len) { 40 } else { (k * 7 % 30) as u32 };
    let lists: Vec<u32> = (0..2 * steps * len).map(entry).collect();
    let pace: Vec<f32> = (0..4 * steps).map(|k| (k % 5) as f32 / 50.0).collect();
    let mut numbers = [0.0; 24];
    numbers[..3].copy_from_slice(&[1e-3, 0.9, 0.1]);
    numbers[8..14].copy_from_slice(&[0.02, 0.02, 0.02, 0.5, 0.0, 1.0]);
    numbers[20] = 1.0;
    let run = |window: usize, most: u64| {
        let mut on_device = DeviceRuns::new(&context, &shape, &rows, 2).unwrap();
        let state = vec![0.0; shape.state as usize];
        (0..2).for_each(|run| on_device.load(run, &state, &numbers).unwrap());
        on_device.window = on_device.window.min(window);
        if let Engine::Narrow(narrow) = &mut on_device.engine {
            narrow.rounds.step = narrow.rounds.step.max(ROUNDS / (most + 1));
        }
        on_device.advance(steps, &lists, &[1, 0], &pace).unwrap();
        [on_device.state(0).unwrap(), on_device.state(1).unwrap(), on_device.values().unwrap()]
    };
    let whole = run(usize::MAX, u64::MAX - 1);
    assert_ne!(whole[0], whole[1]);
    assert!(whole[2].iter().all(|x| x.is_finite() && *x != 0.0));
    for (window, most) in [(1, 100), (7, 3), (100, 1)] {
        assert_eq!(run(window, most), whole, "{window}, {most}");
    }
}

#[test]
fn rounds_are_those_of_the_text() {
    let Some(context) = first() else { return };
    for shape in [
        Shape { rows: 300, negatives: Some(20), ..shape(&[7, 1], "soap", "sgd") },
        Shape { rows: MAX_ROWS, negatives: None, sigmoid: true, ..shape(&[130, 1], "auc-pairwise", "sgd") },
        shape(&[17, 70, 1], "cross-entropy", "sgd"),
        Shape { rows: 65, ..shape(&[20, 9, 130, 33, 1], "auc-min-max", "sgd") },
        Shape { rows: 340, negatives: Some(300), ..shape(&[5, 1], "pauc-threshold", "sgd") },
        Shape { rows: 340, negatives: Some(50), ..shape(&[5, 1], "sopa", "sgd") },
        Shape { rows: 340, negatives: Some(50), ..shape(&[5, 1], "sota-s", "sgd") },
        Shape { rows: 300, negatives: Some(20), ..shape(&[5, 1], "ldam", "sgd") },
        Shape { rows: 300, negatives: Some(20), ..shape(&[5, 1], "min-max-ap", "sgd") },
        Shape { rows: 300, negatives: Some(20), ..shape(&[5, 1], "pauc-dual", "dca") },
        Shape { rows: 300, negatives: Some(20), ..shape(&[5, 1], "sorr", "dca") },
    ] {
        let layout = Layout::of(&shape).unwrap();
        // (Its stage loop has barriers of its own, further in.)
        let text = counting(&layout.text().unwrap());
        let columns = shape.widths[0] as usize;
        let rounds = layout.rounds();
        let rows = vec![0.5; 3 * columns];
        let mut on_device =
            pollster::block_on(DeviceRuns::narrow(&context, layout, Source::Here(&rows), 1, text)).unwrap();
        let mut list = vec![0; shape.list_len()];
        list[0] = shape.negatives.unwrap_or(0);
        on_device.load(0, &vec![0.0; shape.state as usize], &[0.5; 24]).unwrap();
        on_device.advance(1, &list, &[0], &[0.0; 2]).unwrap();
        let counted = on_device.values().unwrap()[0] as u64;
        let most = rounds.step + rounds.value;
        match shape.negatives {
            Some(_) => assert_eq!(counted, most, "{shape:?}"),
            None => assert!(counted <= most && most < 2 * counted, "{shape:?}: {counted}, {most}"),
        }
        on_device.test(&rows[..columns]).unwrap();
        assert!(on_device.begin_report().unwrap());
        let report = on_device.wait_for_report().unwrap().unwrap();
        assert_eq!(report[0] as u64, rounds.block, "{shape:?}");
    }
}

#[test]
fn rounds_over_many_workgroups_are_those_of_the_text() {
    let Some(context) = first() else { return };
    for shape in [
        Shape { rows: 300, negatives: Some(20), ..shape(&[7, 1], "soap", "sgd") },
        Shape { rows: 2100, negatives: Some(2000), ..shape(&[20, 70, 1], "auc-min-max", "adam") },
        Shape { rows: 90, negatives: Some(60), ..shape(&[700, 9, 1], "cross-entropy", "sgd") },
    ] {
        let wide = crate::kernel::wide::Wide::of(&shape).unwrap();
        let (most, text) = (wide.rounds(), counting_entries(&wide.text().unwrap()));
        let rows = vec![0.5; 3 * shape.widths[0] as usize];
        let mut on_device =
            pollster::block_on(DeviceRuns::over_many(&context, wide, Source::Here(&rows), 1, text)).unwrap();
        let mut list = vec![0; shape.list_len()];
        list[0] = shape.negatives.unwrap_or(0);
        on_device.advance(1, &list, &[0], &[0.0; 2]).unwrap();
        let counted = on_device.values().unwrap()[0] as u64;
        assert!(counted <= most && most <= counted + 8, "{shape:?}: {counted}, {most}");
    }
}

#[test]
fn idle_runs_stay_where_they_are() {
    let Some(context) = first() else { return };
    let shape = shape(&[2, 1], "auc-pairwise", "sgd");
    for make in [DeviceRuns::new, DeviceRuns::wide] {
        let mut on_device = make(&context, &shape, &[0.25, -0.5, 0.75, 1.0], 3).unwrap();
        let mut numbers = [0.0; 24];
        numbers[20] = 1.0;
        for run in 0..3 {
            on_device.load(run, &[0.5, 0.25, run as f32], &numbers).unwrap();
        }
        let mut list: Vec<u32> = (0..shape.list_len() as u32).map(|k| u32::from(k > 40)).collect();
        list[0] = 40;
        on_device.advance(3, &list.repeat(3), &[IDLE, 0, IDLE], &[0.1; 18]).unwrap();
        assert_eq!([on_device.state(0).unwrap(), on_device.state(2).unwrap()], [[0.5, 0.25, 0.0], [0.5, 0.25, 2.0]]);
        assert_ne!(on_device.state(1).unwrap()[..2], [0.5, 0.25]);
        assert!(on_device.values().unwrap()[1] > 0.0);
    }
}
