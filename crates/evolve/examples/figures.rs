//! Measures the search on the frozen folders, with its seeds: `cargo run --release -p evolve --example figures [FOLDER]`.
#![expect(
    clippy::print_stdout,
    reason = "a program whose result is read by people"
)]

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    figures::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod figures {
    use std::path::Path;
    use std::process::ExitCode;
    use std::time::Instant;

    use evolve::Report;
    use evolve::folder::{FolderOptions, FolderRun};
    use tools::sandbox::{Helper, Sandbox, SandboxKind};

    /// A folder, its budgets, and how many seeds it is run with.
    const MEASURED: &[(&str, &[usize], u64)] = &[
        ("bowl", &[100, 400], 5),
        ("two_basins", &[200], 5),
        ("pipeline", &[20], 20),
        ("minimize", &[60, 200], 5),
        ("packing", &[300, 1_000], 5),
        ("staged", &[300], 5),
    ];

    pub(crate) fn main() -> ExitCode {
        let mut arguments = std::env::args_os().skip(1).peekable();
        if arguments.next_if(|it| it == "sandbox").is_some() {
            return tools::sandbox::helper(arguments);
        }
        let only: Vec<String> = arguments.filter_map(|it| it.into_string().ok()).collect();
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
        else {
            return ExitCode::FAILURE;
        };
        println!(
            "{:<12} {:>6} {:>5}  {:<44} {:>8} {:>8} {:>6}",
            "folder", "evals", "seeds", "best by seed", "median", "random", "s"
        );
        for (folder, budgets, seeds) in MEASURED {
            if !only.is_empty() && !only.iter().any(|it| it == folder) {
                continue;
            }
            for budget in *budgets {
                let began = Instant::now();
                let reports: Vec<Report> = (1..=*seeds)
                    .filter_map(|seed| runtime.block_on(run(folder, *budget, seed)))
                    .collect();
                tell(folder, *budget, &reports, began.elapsed().as_secs_f64());
            }
        }
        ExitCode::SUCCESS
    }

    async fn run(folder: &str, budget: usize, seed: u64) -> Option<Report> {
        let data = std::env::temp_dir().join(format!("evolve-figures-{}", std::process::id()));
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../conformance/evolve")
            .join(folder);
        let copy = data
            .join("folders")
            .join(format!("{folder}-{budget}-{seed}"));
        std::fs::create_dir_all(&copy).ok()?;
        for entry in std::fs::read_dir(from).ok()?.filter_map(Result::ok) {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), copy.join(entry.file_name())).ok()?;
            }
        }
        let path = std::env::var("PATH").ok()?;
        let helper = Helper {
            program: std::env::current_exe().ok()?,
            arguments: vec!["sandbox".to_owned()],
        };
        let mut sandbox = Sandbox::new(
            SandboxKind::detect(Some(&path)),
            helper,
            data.join("scratch"),
        );
        sandbox.environment.push(("PATH".to_owned(), path));
        let mut options = FolderOptions::new(&copy, &data, sandbox);
        (options.budget, options.seed, options.random) = (Some(budget), Some(seed), seed == 1);
        let report = match FolderRun::open(&options) {
            Ok(mut run) => run.finish(|_, _| {}).await,
            Err(error) => Err(error),
        };
        let _ = std::fs::remove_dir_all(&data);
        report.map_err(|it| println!("{folder}: {it}")).ok()
    }

    /// The score that counts: that of fresh evaluations, in the mean, where there are some.
    fn score(report: &Report) -> Option<f64> {
        let fresh: Vec<f64> = report
            .proposal
            .iter()
            .flat_map(|it| it.trial.candidate.iter().flatten().copied())
            .collect();
        let count = u32::try_from(fresh.len()).ok().filter(|it| *it > 0);
        count
            .map(|it| fresh.iter().sum::<f64>() / f64::from(it))
            .or(report.best)
    }

    fn tell(folder: &str, budget: usize, reports: &[Report], seconds: f64) {
        // The sum of radii is what is known of this problem.
        let unit = if folder == "packing" { 2.635 } else { 1.0 };
        let mut scores: Vec<f64> = reports
            .iter()
            .filter_map(score)
            .map(|it| it * unit)
            .collect();
        let shown: Vec<String> = scores.iter().take(7).map(|it| format!("{it:.4}")).collect();
        scores.sort_by(f64::total_cmp);
        let median = scores.get(scores.len() / 2).copied().unwrap_or(f64::NAN);
        let random = reports
            .iter()
            .find(|it| it.random_evaluations > 0)
            .and_then(|it| it.at_random)
            .map(|it| it * unit);
        let random = random.map_or_else(String::new, |it| format!("{it:.4}"));
        println!(
            "{folder:<12} {budget:>6} {:>5}  {:<44} {median:>8.4} {random:>8} {seconds:>6.0}",
            reports.len(),
            shown.join(" ")
        );
    }
}
