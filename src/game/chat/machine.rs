//! What machine the bot runs on, for those who ask. The system tells, as Linux does under `/proc`; where
//! it does not, as where `ProcSubset=pid` hides it from a service, nobody knows.

use std::{fs, sync::LazyLock, thread::available_parallelism};

use crate::game::one_line;

/// Of a longer name of a processor the rest is left out.
const LONGEST_NAME: usize = 60;

/// A machine, in words.
#[derive(Debug)]
pub(in crate::game) struct Machine {
    /// Its processor, and how many threads it has.
    pub(in crate::game) processor: String,
    /// Its memory.
    pub(in crate::game) memory: String,
}

impl Machine {
    /// This machine. It is asked once, which can take milliseconds where there are many processors.
    pub(in crate::game) fn this() -> &'static Self {
        static THIS: LazyLock<Machine> = LazyLock::new(|| {
            let text = |path| fs::read_to_string(path).unwrap_or_default();
            Machine::of(&text("/proc/cpuinfo"), &text("/proc/meminfo"))
        });
        &THIS
    }

    fn of(cpuinfo: &str, meminfo: &str) -> Self {
        let unknown = || "I do not know.".to_owned();
        let threads = available_parallelism().map_or(1, usize::from);
        let processor = value(cpuinfo, "model name")
            .map(|name| format!("{}, {threads} threads", one_line(name, LONGEST_NAME)));
        let kib = value(meminfo, "MemTotal")
            .and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok());
        let memory = kib.map(|kib| {
            // In tenths of a GiB.
            let tenths = kib.saturating_mul(10) >> 20;
            format!("{}.{} GiB of memory", tenths / 10, tenths % 10)
        });
        Self {
            processor: processor.unwrap_or_else(unknown),
            memory: memory.unwrap_or_else(unknown),
        }
    }
}

/// What stands behind a name and a colon.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim_end() == name).then_some(value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_told_in_words() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some Processor 9\nmodel name\t: Other\n";
        let machine = Machine::of(cpuinfo, "MemTotal:       16325436 kB\nMemFree: 1 kB\n");
        assert!(machine.processor.starts_with("Some Processor 9, "), "{machine:?}");
        assert_eq!(machine.memory, "15.5 GiB of memory");
    }

    #[test]
    fn what_the_system_does_not_tell_is_not_known() {
        for (cpuinfo, meminfo) in [("", ""), ("model name", "MemTotal: much\nMemTotal")] {
            let machine = Machine::of(cpuinfo, meminfo);
            assert_eq!(machine.processor, "I do not know.");
            assert_eq!(machine.memory, "I do not know.");
        }
    }
}
