//! Runs a folder, for the tests and figures of this crate; `monas evolve` is the command for people. Called with `sandbox` it is the
//! helper of the sandbox.

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    program::main()
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod program {
    use std::process::ExitCode;

    use evolve::folder::{FolderOptions, FolderRun};
    use tools::sandbox::{Helper, Sandbox, SandboxKind};

    pub(crate) fn main() -> ExitCode {
        let mut arguments = std::env::args_os().skip(1).peekable();
        if arguments.next_if(|it| it == "sandbox").is_some() {
            return tools::sandbox::helper(arguments);
        }
        let arguments: Vec<String> = arguments.filter_map(|it| it.into_string().ok()).collect();
        let [folder, data, budget, seed, rest @ ..] = arguments.as_slice() else {
            return ExitCode::FAILURE;
        };
        let path = std::env::var("PATH").unwrap_or_default();
        let Ok(program) = std::env::current_exe() else {
            return ExitCode::FAILURE;
        };
        let helper = Helper {
            program,
            arguments: vec!["sandbox".to_owned()],
        };
        let mut sandbox = Sandbox::new(
            SandboxKind::detect(Some(&path)),
            helper,
            format!("{data}/scratch"),
        );
        sandbox.environment.push(("PATH".to_owned(), path));
        let mut options = FolderOptions::new(folder, data, sandbox);
        options.budget = budget.parse().ok();
        options.seed = seed.parse().ok();
        options.random = rest.iter().any(|it| it == "random");
        if let Ok(python) = std::env::var("MONAS_PYTHON") {
            options.python = python.into();
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else {
            return ExitCode::FAILURE;
        };
        let finished =
            runtime.block_on(async { FolderRun::open(&options)?.finish(|_, _| {}).await });
        print(match &finished {
            Ok(report) => serde_json::to_string(report).unwrap_or_default(),
            Err(error) => error.to_string(),
        });
        match finished {
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }
    }

    #[expect(
        clippy::print_stdout,
        reason = "a program whose result is read by tests"
    )]
    fn print(text: String) {
        println!("{text}");
    }
}
