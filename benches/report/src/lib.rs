//! The machine and the programs that measurements ran on, for their reports.

use std::process::Command;

/// The date and the machine, in one line.
pub fn hardware() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let rustc = output("rustc", &["-V"]);
    let rustc = rustc.split(" (").next().unwrap_or_default();
    let kernel = read("/proc/sys/kernel/osrelease");
    let load = read("/proc/loadavg");
    let load = load.split(' ').next().unwrap_or_default();
    let date = output("date", &["-u", "+%Y-%m-%d %H:%M UTC"]);
    format!(
        "{date}; {cores} cores ({model}), Linux {}, {rustc}. Load average {load}.",
        kernel.trim()
    )
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}
