//! The command line that the example servers share.

/// The number behind `--port`; 0, any free port, without it.
pub(crate) fn port() -> Result<u16, Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        None => Ok(0),
        Some("--port") => Ok(arguments.next().ok_or("--port needs a number")?.parse()?),
        Some(other) => Err(format!("unknown argument {other}; expected --port N").into()),
    }
}

/// Prints the line that tells the starting program the address.
#[expect(
    clippy::print_stdout,
    reason = "this line is what the program is asked for"
)]
pub(crate) fn announce(line: &str) {
    println!("{line}");
}
