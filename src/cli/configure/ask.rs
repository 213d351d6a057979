//! Questions to the operator: in a terminal with a prompt each, else one line of standard input for
//! each, where an input that is over leaves the defaults.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::Context as _;
use dialoguer::{Confirm, Input, Password};
use secrecy::SecretString;

/// Who answers.
pub(super) struct Ask {
    is_person: bool,
}

impl Ask {
    /// A person, if standard input is a terminal.
    pub(super) fn new() -> Self {
        Self { is_person: io::stdin().is_terminal() && io::stderr().is_terminal() }
    }

    /// Whether an answer that cannot be used is asked for again.
    pub(super) fn is_person(&self) -> bool {
        self.is_person
    }

    /// Yes or no.
    pub(super) fn yes(&self, question: &str, default: bool) -> anyhow::Result<bool> {
        if self.is_person {
            return Ok(Confirm::new().with_prompt(question).default(default).interact()?);
        }
        let answer = Self::line(question, if default { "yes" } else { "no" })?;
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => anyhow::bail!("{question} {answer:?} is neither yes nor no"),
        }
    }

    /// A text that passes a check, which says what is wrong with others.
    pub(super) fn text(
        &self,
        question: &str,
        default: &str,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> anyhow::Result<String> {
        if self.is_person {
            let input = Input::new().with_prompt(prompt(question)).default(default.to_owned());
            return Ok(input.validate_with(|text: &String| check(text)).interact_text()?);
        }
        let answer = Self::line(question, default)?;
        check(&answer).map_err(anyhow::Error::msg)?;
        Ok(answer)
    }

    /// A text that is not shown; it may be empty.
    pub(super) fn secret(&self, question: &str) -> anyhow::Result<SecretString> {
        let answer = if self.is_person {
            Password::new().with_prompt(prompt(question)).allow_empty_password(true).interact()?
        } else {
            writeln!(io::stdout(), "{question}")?;
            read_line()?
        };
        Ok(answer.trim().to_owned().into())
    }

    /// The next line of the input, or the default; with the question it is shown.
    fn line(question: &str, default: &str) -> anyhow::Result<String> {
        let answer = read_line()?;
        let answer = match answer.trim() {
            "" => default,
            answer => answer,
        };
        writeln!(io::stdout(), "{question} {answer}")?;
        Ok(answer.to_owned())
    }
}

/// The library ends prompts with a colon by itself.
fn prompt(question: &str) -> &str {
    question.trim_end_matches(':')
}

fn read_line() -> anyhow::Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("standard input cannot be read")?;
    Ok(line)
}
