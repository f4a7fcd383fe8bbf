//! Measures the speed of a large memory: `cargo bench -p memory --bench speed -- [RECORDS] [--vectors]`.
//!
//! Records consist of words with Zipf frequencies, in sessions of twenty; they are written with full durability, by an
//! import and by sixteen concurrent writers.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memory::{Content, Memory, Noted, Options, Recall, Record, RecordId, Standing, TABLES, Usage};
use model::Embed;
use store::Store;

/// A deterministic pseudo-random generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }

    /// A word with Zipf frequency: rank r has the frequency 1/r.
    fn word(&mut self) -> String {
        const WORDS: f64 = 30_000.0;
        let share = self.roll(1_000_000) as f64 / 1_000_000.0;
        let rank = WORDS.powf(share) as usize;
        let syllables = [
            "ka", "lo", "mi", "re", "su", "ta", "ven", "dor", "pin", "gal",
        ];
        let digits = format!("{rank:05}");
        digits
            .bytes()
            .map(|digit| syllables[usize::from(digit - b'0')])
            .collect()
    }

    fn text(&mut self) -> String {
        let length = 8 + self.roll(16);
        let words: Vec<String> = (0..length).map(|_| self.word()).collect();
        words.join(" ")
    }
}

/// An embedder that takes no time: it hashes the text into a direction.
struct Instantly;

impl fmt::Debug for Instantly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Instantly")
    }
}

impl Embed for Instantly {
    fn name(&self) -> &str {
        "instantly"
    }

    fn embed(&self, texts: Vec<String>) -> model::Vectors {
        let vectors = texts.iter().map(|text| {
            let seed = text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            });
            let mut dice = Dice(seed | 1);
            model::unit(
                (0..384)
                    .map(|_| dice.roll(2001) as f32 / 1000.0 - 1.0)
                    .collect(),
            )
        });
        Box::pin(std::future::ready(Ok(vectors.collect())))
    }
}

fn content(dice: &mut Dice, number: usize) -> Content {
    let mut content = Content::text(dice.text());
    content.session = Some(format!("session-{}", number / 20));
    content.speaker = Some(["Ada", "Bob"][number % 2].to_owned());
    content.occurred = Some(1_700_000_000_000 + number as i64 * 60_000);
    content
}

fn middle(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Resident memory of the process in megabytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status
        .split_whitespace()
        .nth(1)
        .and_then(|it| it.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096 / 1_000_000
}

/// What the thread of the questions has used of the processor: it is the first thread of the process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = stat.split(' ').next().and_then(|it| it.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is a report")]
async fn main() {
    let mut records = 100_000;
    let mut embedder: Option<Arc<dyn Embed>> = None;
    // `cargo bench` adds `--bench`.
    for argument in std::env::args().skip(1).filter(|it| it != "--bench") {
        match argument.parse() {
            Ok(count) => records = count,
            Err(_) => embedder = Some(Arc::new(Instantly)),
        }
    }
    let folder = std::env::temp_dir().join(format!("monas-measure-{}", std::process::id()));
    let store = Store::open(&store::Options::new(&folder).tables(TABLES)).expect("a store");
    let memory = Memory::open(
        store.clone(),
        Options {
            embedder,
            ..Options::default()
        },
    );
    let space = memory.space("measured").expect("a name");
    let mut dice = Dice(42);

    let begun = Instant::now();
    let imported: usize = records * 4 / 5;
    for chunk in 0..imported.div_ceil(1000) {
        let numbers = chunk * 1000..((chunk + 1) * 1000).min(imported);
        let batch = numbers.map(|number| Record {
            id: RecordId::new(format!("{number:08}")),
            content: content(&mut dice, number),
            recorded: 0,
            standing: Standing::Observed,
            usage: Usage::default(),
            echo: None,
        });
        space.import(batch.collect()).await.expect("imported");
    }
    let rate = imported as f64 / begun.elapsed().as_secs_f64();
    println!("import: {rate:.0} records/s");

    let begun = Instant::now();
    let each = (records - imported) / 16;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..16 {
        let space = space.clone();
        writers.spawn(async move {
            let mut dice = Dice(1000 + writer as u64);
            for number in 0..each {
                let content = content(&mut dice, imported + writer * each + number);
                space.observe(content).await.expect("observed");
            }
        });
    }
    while writers.join_next().await.is_some() {}
    let rate = (each * 16) as f64 / begun.elapsed().as_secs_f64();
    println!("sixteen writers: {rate:.0} records/s");

    let begun = Instant::now();
    memory.settled().await;
    println!(
        "vectors: {:.1} s after the last write",
        begun.elapsed().as_secs_f64()
    );

    const QUERIES: u32 = 300;
    let (mut times, used) = (Vec::new(), cpu());
    for _ in 0..QUERIES {
        let words: Vec<String> = (0..6).map(|_| dice.word()).collect();
        let mut recall = Recall::new(format!("What did Ada say about {}?", words.join(" ")));
        recall.noted = Noted::Look;
        let begun = Instant::now();
        let answer = space.recall(recall).await.expect("answered");
        times.push(begun.elapsed());
        assert!(!answer.hits.is_empty());
    }
    let used = (cpu() - used) / QUERIES;
    let (half, most) = middle(times);
    println!(
        "query ({}): p50 {half:.2?}, p99 {most:.2?}, {used:.2?} of CPU in the mean",
        memory.retriever()
    );
    println!("resident: {} MB", resident());
    memory.close().await;
    store.close().await;

    let begun = Instant::now();
    let store = Store::open(&store::Options::new(&folder).tables(TABLES)).expect("a store");
    let memory = Memory::open(store.clone(), Options::default());
    let space = memory.space("measured").expect("a name");
    space.audit().await.expect("loaded");
    println!("opened again: {:.1} s", begun.elapsed().as_secs_f64());
    memory.close().await;
    store.close().await;
    std::fs::remove_dir_all(&folder).expect("removed");
}
