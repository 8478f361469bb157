//! Sequences of calls that no program should make, each of a number: pointers that are NULL, not aligned or into each other's
//! memory, lengths, texts, labels and numbers of every kind, runs and models that are none, were released or are of the other
//! kind, saved bytes that were changed. What the header allows is a code, with nothing changed but scratch.
//!
//! All memory that a call sees lies in one arena, whose every byte is compared after the call. (Lengths that no memory has are
//! given; lengths past the arena are not, because no library can check them.)

use std::ptr;

unsafe extern "C" {
    pub fn uc_abi_version() -> u32;
    pub fn uc_last_error(text: *mut u8, size: usize) -> usize;
    pub fn uc_metrics_need(rows: usize) -> usize;
    pub fn uc_auroc_f32(
        s: *const f32,
        y: *const u8,
        w: *const f64,
        n: usize,
        m: *mut u64,
        b: usize,
        v: *mut f64,
    ) -> i32;
    pub fn uc_auroc_f64(
        s: *const f64,
        y: *const u8,
        w: *const f64,
        n: usize,
        m: *mut u64,
        b: usize,
        v: *mut f64,
    ) -> i32;
    pub fn uc_ap_f32(s: *const f32, y: *const u8, w: *const f64, n: usize, m: *mut u64, b: usize, v: *mut f64) -> i32;
    pub fn uc_ap_f64(s: *const f64, y: *const u8, w: *const f64, n: usize, m: *mut u64, b: usize, v: *mut f64) -> i32;
    pub fn uc_pairs_need_f32(
        k: u32,
        l: *const u8,
        p: f64,
        n: usize,
        positives: usize,
        w: i32,
        bytes: *mut usize,
    ) -> i32;
    pub fn uc_pairs_need_f64(
        k: u32,
        l: *const u8,
        p: f64,
        n: usize,
        positives: usize,
        w: i32,
        bytes: *mut usize,
    ) -> i32;
    pub fn uc_surrogate(l: *const u8, p: f64, margins: *const f64, n: usize, v: *mut f64, slopes: *mut f64) -> i32;
    pub fn uc_trainer_steps(trainer: u32, steps: u64, left: *mut u64) -> i32;
    pub fn uc_trainer_save(trainer: u32, bytes: *mut u8, room: usize, count: *mut usize) -> i32;
    pub fn uc_trainer_model(trainer: u32, bytes: *mut u8, room: usize, count: *mut usize) -> i32;
    pub fn uc_model_load(saved: *const u8, size: usize, model: *mut u32) -> i32;
    pub fn uc_shape(handle: u32, columns: *mut usize, scores: *mut usize) -> i32;
    pub fn uc_params(handle: u32, params: *mut f32, room: usize, count: *mut usize) -> i32;
    pub fn uc_score(handle: u32, x: *const f32, rows: usize, cols: usize, scores: *mut f32, count: usize) -> i32;
    pub fn uc_threshold(handle: u32, threshold: *mut f64) -> i32;
    pub fn uc_release(handle: u32) -> i32;
    pub fn uc_pauc_f32(
        s: *const f32,
        y: *const u8,
        w: *const f64,
        n: usize,
        low: f64,
        high: f64,
        m: *mut u64,
        bytes: usize,
        v: *mut f64,
    ) -> i32;
    pub fn uc_pauc_f64(
        s: *const f64,
        y: *const u8,
        w: *const f64,
        n: usize,
        low: f64,
        high: f64,
        m: *mut u64,
        bytes: usize,
        v: *mut f64,
    ) -> i32;
    pub fn uc_decide_f32(
        r: *const u8,
        s: *const f32,
        y: *const u8,
        w: *const f64,
        c: *const u32,
        n: usize,
        m: *mut u64,
        bytes: usize,
        v: *mut f64,
    ) -> i32;
    pub fn uc_decide_f64(
        r: *const u8,
        s: *const f64,
        y: *const u8,
        w: *const f64,
        c: *const u32,
        n: usize,
        m: *mut u64,
        bytes: usize,
        v: *mut f64,
    ) -> i32;
    pub fn uc_pairs_f32(
        k: u32,
        low: f64,
        high: f64,
        tpr: f64,
        l: *const u8,
        p: f64,
        s: *const f32,
        y: *const u8,
        w: *const f64,
        n: usize,
        m: *mut u64,
        bytes: usize,
        v: *mut f64,
        g: *mut f32,
    ) -> i32;
    pub fn uc_pairs_f64(
        k: u32,
        low: f64,
        high: f64,
        tpr: f64,
        l: *const u8,
        p: f64,
        s: *const f64,
        y: *const u8,
        w: *const f64,
        n: usize,
        m: *mut u64,
        bytes: usize,
        v: *mut f64,
        g: *mut f64,
    ) -> i32;
    pub fn uc_trainer_new(
        x: *const f32,
        rows: usize,
        cols: usize,
        y: *const u8,
        w: *const f64,
        method: *const u8,
        model: *const u8,
        settings: *const u8,
        seed: u64,
        out: *mut u32,
    ) -> i32;
    pub fn uc_trainer_load(
        x: *const f32,
        rows: usize,
        cols: usize,
        y: *const u8,
        w: *const f64,
        saved: *const u8,
        size: usize,
        out: *mut u32,
    ) -> i32;
}

/// A generator that needs no state but a number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
    /// Once in so many times.
    fn seldom(&mut self, times: usize) -> bool {
        self.roll(times) == 0
    }
}

/// Bytes of the arena, the first of which no call gets.
const ARENA: usize = 8192;
const EDGE: usize = 64;

/// Where an argument lies in the arena, so many bytes from its start; or NULL.
#[derive(Clone, Copy)]
struct Place {
    at: Option<usize>,
    bytes: usize,
}

/// What a call sees.
struct Arena {
    words: Vec<u64>,
    before: Vec<u64>,
    /// Where the next argument begins that overlaps none.
    free: usize,
}

impl Arena {
    fn start(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }
    /// Room for `count` elements of `size` bytes: mostly right, sometimes NULL, not aligned or somewhere else.
    fn place(&mut self, count: usize, size: usize, dice: &mut Dice) -> Place {
        let bytes = count * size;
        let right = self.free.next_multiple_of(size.max(1));
        self.free = right + bytes + dice.one(&[0, 0, 8]);
        assert!(self.free <= ARENA - EDGE, "the arena is too small for a call");
        let at = match dice.roll(40) {
            0 => None,
            1 => Some(right.saturating_sub(dice.one(&[1, 2, 4])).max(EDGE)),
            2 => Some(EDGE + dice.roll((ARENA - 2 * EDGE - bytes) / 8) * 8),
            _ => Some(right),
        };
        Place { at, bytes }
    }
    fn pointer<T>(&mut self, place: Place) -> *mut T {
        let start: *mut u8 = self.words.as_mut_ptr().cast();
        place.at.map_or(ptr::null_mut(), |at| start.wrapping_add(at).cast())
    }
    fn write(&mut self, place: Place, bytes: &[u8]) {
        if let Some(at) = place.at {
            let start: *mut u8 = self.words.as_mut_ptr().cast();
            assert!(at + bytes.len() <= ARENA);
            // SAFETY: within the arena.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), start.add(at), bytes.len()) };
        }
    }
    fn bytes(&self, place: Place) -> &[u8] {
        let at = place.at.unwrap_or(0);
        // SAFETY: within the arena.
        unsafe { std::slice::from_raw_parts(self.start().add(at), place.bytes) }
    }
    fn reals<T: Scalar>(&self, place: Place) -> Vec<f64> {
        self.bytes(place).chunks_exact(T::SIZE).map(T::read).collect()
    }
    fn fresh(&mut self) {
        self.words.fill(0x5bd1_e995_a5a5_c3c3);
        self.free = EDGE;
    }
    /// Remembers what is there before a call.
    fn remember(&mut self) {
        self.before.copy_from_slice(&self.words);
    }
    /// Nothing has changed but what a call that was fine writes, and scratch.
    fn check(&self, call: &str, code: i32, written: &[Place], scratch: &[Place]) {
        let but = if code == 0 { written } else { &[] };
        if self.words == self.before {
            return;
        }
        // SAFETY: both have so many bytes.
        let [now, old] = [&self.words, &self.before]
            .map(|words| unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), ARENA) });
        for at in (0..ARENA).filter(|&at| now[at] != old[at]) {
            let allowed = but
                .iter()
                .chain(scratch)
                .any(|one| one.at.is_some_and(|start| (start..start + one.bytes).contains(&at)));
            assert!(allowed, "{call} gave {code} and wrote to byte {at}");
        }
    }
}

/// The functions of a number type.
trait Scalar: Sized {
    const SIZE: usize;
    fn bytes(x: f64) -> Vec<u8>;
    fn read(bytes: &[u8]) -> f64;
    /// # Safety
    /// As the header says.
    unsafe fn metric(
        which: usize,
        given: &Given,
        range: (f64, f64),
        scratch: (*mut u64, usize),
        value: *mut f64,
    ) -> i32;
    /// # Safety
    /// As the header says.
    unsafe fn decide(
        rule: *const u8,
        given: &Given,
        clusters: *const u32,
        scratch: (*mut u64, usize),
        decision: *mut f64,
    ) -> i32;
    /// # Safety
    /// As the header says.
    unsafe fn pairs(
        kind: u32,
        range: [f64; 3],
        loss: (*const u8, f64),
        given: &Given,
        scratch: (*mut u64, usize),
        out: (*mut f64, *mut u8),
    ) -> i32;
    /// # Safety
    /// As the header says.
    unsafe fn need(kind: u32, loss: (*const u8, f64), n: usize, positives: usize, w: i32, bytes: *mut usize) -> i32;
}

/// Scores, labels, weights and rows of a call.
struct Given {
    scores: *const u8,
    labels: *const u8,
    weights: *const f64,
    rows: usize,
}

macro_rules! scalar {
    ($T:ty, $size:literal, $auroc:ident, $ap:ident, $pauc:ident, $decide:ident, $need:ident, $pairs:ident) => {
        impl Scalar for $T {
            const SIZE: usize = $size;
            fn bytes(x: f64) -> Vec<u8> {
                (x as $T).to_ne_bytes().to_vec()
            }
            fn read(bytes: &[u8]) -> f64 {
                f64::from(<$T>::from_ne_bytes(bytes.try_into().expect("a number")))
            }
            unsafe fn metric(
                which: usize,
                of: &Given,
                (low, high): (f64, f64),
                (m, b): (*mut u64, usize),
                v: *mut f64,
            ) -> i32 {
                let (s, y, w, n) = (of.scores.cast(), of.labels, of.weights, of.rows);
                // SAFETY: as the caller promises.
                unsafe {
                    match which {
                        0 => $auroc(s, y, w, n, m, b, v),
                        1 => $ap(s, y, w, n, m, b, v),
                        _ => $pauc(s, y, w, n, low, high, m, b, v),
                    }
                }
            }
            unsafe fn decide(
                rule: *const u8,
                of: &Given,
                clusters: *const u32,
                (m, b): (*mut u64, usize),
                v: *mut f64,
            ) -> i32 {
                let (s, y, w, n) = (of.scores.cast(), of.labels, of.weights, of.rows);
                // SAFETY: as the caller promises.
                unsafe { $decide(rule, s, y, w, clusters, n, m, b, v) }
            }
            unsafe fn pairs(
                kind: u32,
                [low, high, tpr]: [f64; 3],
                (loss, param): (*const u8, f64),
                of: &Given,
                (m, b): (*mut u64, usize),
                (v, g): (*mut f64, *mut u8),
            ) -> i32 {
                let (s, y, w, n) = (of.scores.cast(), of.labels, of.weights, of.rows);
                // SAFETY: as the caller promises.
                unsafe { $pairs(kind, low, high, tpr, loss, param, s, y, w, n, m, b, v, g.cast()) }
            }
            unsafe fn need(
                kind: u32,
                (l, p): (*const u8, f64),
                n: usize,
                positives: usize,
                w: i32,
                b: *mut usize,
            ) -> i32 {
                // SAFETY: as the caller promises.
                unsafe { $need(kind, l, p, n, positives, w, b) }
            }
        }
    };
}

scalar!(f32, 4, uc_auroc_f32, uc_ap_f32, uc_pauc_f32, uc_decide_f32, uc_pairs_need_f32, uc_pairs_f32);
scalar!(f64, 8, uc_auroc_f64, uc_ap_f64, uc_pauc_f64, uc_decide_f64, uc_pairs_need_f64, uc_pairs_f64);

const NUMBERS: [f64; 12] =
    [1.0, 0.5, 0.0, -1.0, 2.0, f64::NAN, f64::INFINITY, 1e-300, 1e300, -1e300, f64::MAX, f64::MIN_POSITIVE];
const LOSSES: [&[u8]; 9] = [
    b"hinge\0",
    b"squared-hinge\0",
    b"square\0",
    b"sigmoid\0",
    b"logistic\0",
    b"ramp\0",
    b"exponential\0",
    b"smoothed-hinge\0",
    b"\xff\xfe\0",
];
const RULES: [&[u8]; 9] = [
    b"fpr<=0.5\0",
    b"precision>=0.5\0",
    b"recall>=0.3@50%\0",
    b"precision>=0.3@60%\0",
    b"fpr<=0.9@80%\0",
    b"alerts<=3\0",
    b"mcc\0",
    b"costs:1:2\0",
    b"precision>=2\0",
];
const METHODS: [&[u8]; 8] =
    [b"soap\0", b"ap-exact\0", b"ce\0", b"ppd-sg\0", b"sonex\0", b"ai-sarah\0", b"none\0", b"\0"];
const MODELS: [&[u8]; 5] = [b"linear\0", b"linear\0", b"mlp:3\0", b"mlp:x\0", b"mlp:99999999999\0"];
const SETTINGS: [&[u8]; 8] = [
    b"steps = 3\0",
    b"steps = 2; lr = 0.1\0",
    b"\0",
    b"lr\0",
    b"lr = x;\0",
    b"batch = 0\0",
    b"steps = 4\nbatch = 8\0",
    b"\xff=1\0",
];
/// A text without an end.
static ENDLESS: [u8; 5000] = [b'a'; 5000];
/// Lengths that no memory has.
const IMPOSSIBLE: [usize; 4] = [usize::MAX, usize::MAX / 2, usize::MAX / 4, 1 << (usize::BITS - 2)];

fn text(of: &[&'static [u8]], dice: &mut Dice) -> *const u8 {
    match dice.roll(60) {
        0 => ptr::null(),
        1 => ENDLESS.as_ptr(),
        2 => c"no such".as_ptr().cast(),
        _ => dice.one(of).as_ptr(),
    }
}

/// Calls that were fine, calls that were refused, and codes that were seen.
#[derive(Default)]
pub struct Counts {
    pub sequences: u64,
    pub fine: u64,
    pub refused: u64,
    pub codes: std::collections::BTreeSet<i32>,
}

/// Of a run of sequences.
pub struct Hostile {
    arena: Arena,
    saved: Vec<u8>,
    pub counts: Counts,
}

impl Hostile {
    pub fn new() -> Self {
        let words = vec![0; ARENA / 8];
        Self { arena: Arena { before: words.clone(), words, free: EDGE }, saved: Vec::new(), counts: Counts::default() }
    }

    /// The calls of a number: one to six.
    pub fn sequence(&mut self, number: u64) {
        let mut dice = Dice(number.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let mut handles = vec![0, u32::MAX, 3];
        self.saved.clear();
        let trains = dice.seldom(25);
        for _ in 0..=dice.roll(6) {
            self.arena.fresh();
            let (call, code) = match dice.roll(if trains { 12 } else { 5 }) {
                0 | 1 => self.metric_or_pairs::<f32>(&mut dice),
                2 | 3 => self.metric_or_pairs::<f64>(&mut dice),
                4 => self.small(&handles, &mut dice),
                5..8 => self.make(&mut handles, &mut dice),
                8 | 9 => self.save(&handles, &mut dice),
                _ => self.of_handle(&mut handles, &mut dice),
            };
            self.told(call, code, &mut dice);
        }
        for handle in handles.drain(3..) {
            // SAFETY: it takes a number.
            let code = unsafe { uc_release(handle) };
            assert!(code == 0 || code == 207, "releasing {handle} gave {code}");
        }
        self.counts.sequences += 1;
    }

    /// What every code has: a message, which is cut to any size.
    fn told(&mut self, call: &str, code: i32, dice: &mut Dice) {
        assert_ne!(code, 299, "{call}: a bug");
        if code == 0 {
            self.counts.fine += 1;
            return;
        }
        self.counts.refused += 1;
        self.counts.codes.insert(code);
        let mut text = [0x55_u8; 80];
        let size = dice.roll(70);
        // SAFETY: of its own size, or nothing.
        let (length, none) = unsafe { (uc_last_error(text.as_mut_ptr(), size), uc_last_error(ptr::null_mut(), 0)) };
        assert!(length > 0 && length == none, "{call}: code {code} without a message");
        assert!(text[size..].iter().all(|&byte| byte == 0x55), "{call}: a message past its size");
        if size > 0 {
            let end = text[..size].iter().position(|&byte| byte == 0).expect("a zero");
            assert!(std::str::from_utf8(&text[..end]).is_ok(), "{call}: half a letter");
        }
    }

    /// Rows of a call, and their number.
    fn rows<T: Scalar>(&mut self, dice: &mut Dice) -> (Given, [Place; 3], usize) {
        let n = dice.one(&[0, 1, 2, 4, 7, 12, 30]);
        let arena = &mut self.arena;
        let [scores, labels, weights] = [T::SIZE, 1, 8].map(|size| arena.place(n, size, dice));
        for k in 0..n {
            let score = match dice.roll(30) {
                0 => dice.one(&NUMBERS),
                _ => dice.roll(200) as f64 / 50.0 - 2.0,
            };
            let label = if dice.seldom(100) { dice.roll(256) } else { usize::from(dice.seldom(3)) } as u8;
            let weight = if dice.seldom(60) { dice.one(&NUMBERS) } else { dice.roll(4) as f64 };
            let of = |place: Place, size: usize| Place { at: place.at.map(|at| at + k * size), bytes: size };
            arena.write(of(scores, T::SIZE), &T::bytes(score));
            arena.write(of(labels, 1), &[label]);
            arena.write(of(weights, 8), &weight.to_ne_bytes());
        }
        let weights = if dice.seldom(2) { Place { at: None, bytes: 0 } } else { weights };
        let rows = if dice.seldom(50) { dice.one(&IMPOSSIBLE) } else { n };
        let given = Given {
            scores: arena.pointer(scores),
            labels: arena.pointer(labels),
            weights: arena.pointer(weights),
            rows,
        };
        (given, [scores, labels, weights], n)
    }

    fn metric_or_pairs<T: Scalar>(&mut self, dice: &mut Dice) -> (&'static str, i32) {
        let (given, _, n) = self.rows::<T>(dice);
        // (The greatest need of 30 rows is less.)
        let room = dice.one(&[4000, 4000, 4000, 500, 16, 0]);
        let arena = &mut self.arena;
        let scratch = arena.place(room, 1, dice);
        let scratch =
            Place { at: scratch.at.map(|at| if dice.seldom(30) { at } else { at.next_multiple_of(8) }), ..scratch };
        let scratch = Place { bytes: room.min(ARENA - EDGE - scratch.at.unwrap_or(0)), ..scratch };
        arena.free += 8;
        let decides = dice.seldom(4);
        let sizes = [(if decides { 5 } else { 1 }, 8), (n, T::SIZE), (n, 4)];
        let [value, grad, clusters] = sizes.map(|(count, size)| arena.place(count, size, dice));
        let clusters = if dice.seldom(2) { Place { at: None, bytes: 0 } } else { clusters };
        for k in 0..n {
            let of = Place { at: clusters.at.map(|at| at + k * 4), bytes: 4 };
            if !decides {
                break;
            }
            arena.write(of, &(dice.roll(9) as u32).to_ne_bytes());
        }
        arena.remember();
        let memory = (arena.pointer(scratch), scratch.bytes);
        let out = (arena.pointer(value), arena.pointer(grad));
        let (low, high) = (dice.one(&[0.0, 0.0, 0.2, -1.0, f64::NAN]), dice.one(&[1.0, 0.5, 0.1, 2.0]));
        let (call, code, gradient) = if decides {
            let rule = text(&RULES, dice);
            // SAFETY: every length ends in the arena or is one that no memory has.
            let code = unsafe { T::decide(rule, &given, arena.pointer(clusters), memory, out.0) };
            ("a decision", code, false)
        } else if dice.seldom(2) {
            let which = dice.roll(3);
            // SAFETY: every length ends in the arena or is one that no memory has.
            let code = unsafe { T::metric(which, &given, (low, high), memory, out.0) };
            ("a metric", code, false)
        } else {
            let loss = (text(&LOSSES, dice), if dice.seldom(4) { dice.one(&NUMBERS) } else { 1.0 });
            let range = [low, high, dice.one(&[0.0, 0.5, 1.0, -1.0, f64::NAN])];
            let kind = dice.one(&[0, 1, 1, 2, 2, 3, u32::MAX]);
            // SAFETY: the same.
            let code = unsafe { T::pairs(kind, range, loss, &given, memory, out) };
            ("a pair sum", code, true)
        };
        let kept = matches!(code, 201..=203);
        let written = [value, grad];
        arena.check(
            call,
            code,
            &written[..1 + usize::from(gradient)],
            if kept { &[] } else { std::slice::from_ref(&scratch) },
        );
        if code == 0 {
            let told = arena.reals::<f64>(value);
            assert!(
                told[usize::from(decides)..].iter().all(|x| x.is_finite()) && !told[0].is_nan(),
                "{call}: {told:?}"
            );
            assert!(!gradient || arena.reals::<T>(grad).iter().all(|g| g.is_finite()), "{call}: its gradient");
        }
        (call, code)
    }

    /// Functions that take little: needs, losses, the version.
    fn small(&mut self, handles: &[u32], dice: &mut Dice) -> (&'static str, i32) {
        let loss = (text(&LOSSES, dice), if dice.seldom(2) { dice.one(&NUMBERS) } else { 1.0 });
        let n = dice.one(&[0, 1, 5, 40]);
        let huge = if dice.seldom(6) { dice.one(&IMPOSSIBLE) } else { n };
        let arena = &mut self.arena;
        match dice.roll(5) {
            0 => {
                // SAFETY: they take numbers.
                let (version, need) = unsafe { (uc_abi_version(), uc_metrics_need(huge)) };
                assert!(version == 1 && need > 0 || huge == 0);
                ("a need", 0)
            }
            kind @ 1..3 => {
                let out = arena.place(1, 8, dice);
                arena.remember();
                let (sum, weighted, at) = (dice.roll(4) as u32, dice.one(&[0, 1, -1, i32::MIN]), arena.pointer(out));
                let positives = dice.one(&[0, 1, n, huge]);
                // SAFETY: `out` is in the arena or NULL.
                let code = unsafe {
                    match kind {
                        1 => <f32 as Scalar>::need(sum, loss, huge, positives, weighted, at),
                        _ => <f64 as Scalar>::need(sum, loss, huge, positives, weighted, at),
                    }
                };
                arena.check("a need of pairs", code, &[out], &[]);
                ("a need of pairs", code)
            }
            3 => {
                let [margins, values, slopes] = [0; 3].map(|_| arena.place(n, 8, dice));
                for k in 0..n {
                    let x = if dice.seldom(20) { dice.one(&NUMBERS) } else { dice.roll(9) as f64 - 4.0 };
                    arena.write(Place { at: margins.at.map(|at| at + 8 * k), bytes: 8 }, &x.to_ne_bytes());
                }
                arena.remember();
                let [x, v, s] = [margins, values, slopes].map(|place| arena.pointer(place));
                // SAFETY: as for rows.
                let code = unsafe { uc_surrogate(loss.0, loss.1, x, huge, v, s) };
                arena.check("a loss", code, &[values, slopes], &[]);
                if code == 0 {
                    let all = [values, slopes].map(|place| arena.reals::<f64>(place)).concat();
                    assert!(all.iter().all(|x| x.is_finite()), "a loss: {all:?}");
                }
                ("a loss", code)
            }
            _ => {
                let [a, b] = [0; 2].map(|_| arena.place(1, 8, dice));
                arena.remember();
                let (columns, scores) = (arena.pointer(a), arena.pointer(b));
                // SAFETY: in the arena or NULL.
                let code = unsafe { uc_shape(dice.one(handles), columns, scores) };
                arena.check("a shape", code, &[a, b], &[]);
                ("a shape", code)
            }
        }
    }

    /// Runs and models out of rows and of saved bytes.
    fn make(&mut self, handles: &mut Vec<u32>, dice: &mut Dice) -> (&'static str, i32) {
        let (given, [scores, ..], n) = self.rows::<f32>(dice);
        let columns = dice.one(&[1, 1, 2, 3, 0]);
        let rows = if given.rows == n && columns > 0 { n / columns } else { given.rows };
        let out = self.arena.place(1, 4, dice);
        // (Half of them are as good as rows can be, or few runs would begin.)
        if dice.seldom(2) {
            for k in 0..n {
                let x = (k * 7 % 11) as f64 / 4.0;
                let at = scores.at.map(|at| at + 4 * k);
                self.arena.write(Place { at, bytes: 4 }, &<f32 as Scalar>::bytes(x));
            }
        }
        self.arena.remember();
        let made: *mut u32 = self.arena.pointer(out);
        let (x, y, w) = (given.scores.cast(), given.labels, given.weights);
        let what = dice.roll(4);
        // SAFETY: as for rows; saved bytes have their own length.
        let (call, code) = unsafe {
            let saved = (self.saved.as_ptr(), self.saved.len());
            match what {
                0 => ("loading a model", uc_model_load(saved.0, saved.1, made)),
                1 => ("loading a run", uc_trainer_load(x, rows, columns, y, w, saved.0, saved.1, made)),
                _ => {
                    let [method, model] = [&METHODS[..], &MODELS].map(|of| text(of, dice));
                    let seed = dice.roll(9) as u64;
                    let settings = text(&SETTINGS, dice);
                    ("a new run", uc_trainer_new(x, rows, columns, y, w, method, model, settings, seed, made))
                }
            }
        };
        self.arena.check(call, code, &[out], &[]);
        if code == 0 {
            let number = self.arena.bytes(out).try_into().expect("a number");
            handles.push(u32::from_ne_bytes(number));
        }
        (call, code)
    }

    /// Saves a run or its model, and sometimes changes the bytes.
    fn save(&mut self, handles: &[u32], dice: &mut Dice) -> (&'static str, i32) {
        let handle = handles[handles.len() - 1];
        let save = dice.one(&[uc_trainer_save, uc_trainer_model]);
        let mut count = 77;
        // SAFETY: with nothing to write the bytes to.
        let code = unsafe { save(handle, ptr::null_mut(), dice.roll(9), &mut count) };
        if code != 0 {
            assert_eq!(count, 77);
            return ("saving", code);
        }
        let room = count - usize::from(dice.seldom(8));
        let mut bytes = vec![0x77; room + 8];
        // SAFETY: with so much room.
        let code = unsafe { save(handle, bytes.as_mut_ptr(), room, &mut count) };
        assert!(bytes[room..].iter().all(|&byte| byte == 0x77), "saving wrote past its room");
        assert_eq!(code == 0, room == count, "saving {count} bytes into {room} gave {code}");
        if code == 0 {
            bytes.truncate(room);
            self.saved = bytes;
            if dice.seldom(3) && room > 0 {
                let at = dice.roll(room);
                self.saved[at] ^= 1 << dice.roll(8);
            }
        }
        ("saving", code)
    }

    /// What runs and models do.
    fn of_handle(&mut self, handles: &mut Vec<u32>, dice: &mut Dice) -> (&'static str, i32) {
        let handle = if dice.seldom(4) { dice.one(handles) } else { handles[handles.len() - 1] };
        let arena = &mut self.arena;
        match dice.roll(7) {
            0..3 => {
                let out = arena.place(1, 8, dice);
                arena.remember();
                let left = arena.pointer(out);
                // SAFETY: in the arena or NULL.
                let code = unsafe { uc_trainer_steps(handle, dice.one(&[0, 1, 2, 9]), left) };
                arena.check("steps", code, &[out], &[]);
                ("steps", code)
            }
            3 => {
                let (room, out) = (dice.roll(20), arena.place(1, 8, dice));
                let params = arena.place(room, 4, dice);
                arena.remember();
                let (to, count) = (arena.pointer(params), arena.pointer(out));
                // SAFETY: the same.
                let code = unsafe { uc_params(handle, to, room, count) };
                arena.check("parameters", code, &[params, out], &[]);
                ("parameters", code)
            }
            4 => {
                let (rows, columns) = (dice.roll(8), dice.one(&[1, 1, 2, 3, 0]));
                let count = if dice.seldom(5) { dice.roll(9) } else { rows };
                let [x, scores] = [rows * columns, count].map(|count| arena.place(count, 4, dice));
                if let (false, Some(at)) = (dice.seldom(5), x.at) {
                    for k in 0..rows * columns {
                        let one = Place { at: Some(at + 4 * k), bytes: 4 };
                        arena.write(one, &<f32 as Scalar>::bytes(k as f64 / 3.0));
                    }
                }
                arena.remember();
                let (from, to) = (arena.pointer(x), arena.pointer(scores));
                let rows = if dice.seldom(30) { dice.one(&IMPOSSIBLE) } else { rows };
                // SAFETY: the same.
                let code = unsafe { uc_score(handle, from, rows, columns, to, count) };
                arena.check("scores", code, &[scores], &[]);
                ("scores", code)
            }
            5 => {
                let out = arena.place(1, 8, dice);
                arena.remember();
                let threshold = arena.pointer(out);
                // SAFETY: the same.
                let code = unsafe { uc_threshold(handle, threshold) };
                arena.check("a threshold", code, &[out], &[]);
                ("a threshold", code)
            }
            _ => {
                // SAFETY: it takes a number.
                let code = unsafe { uc_release(handle) };
                if code == 0 && dice.seldom(2) {
                    handles.retain(|&other| other != handle);
                }
                if handles.len() < 3 {
                    handles.resize(3, 0);
                }
                ("a release", code)
            }
        }
    }
}
