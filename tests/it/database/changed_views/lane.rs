//! A service under load, whose views change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use svc_tests::{App, Reply, TestDatabase};

use super::changes::Change;
use super::schema::{CELLS, SQL, cached, options, restore};

/// The time in which answers are right again.
const SOON: Duration = Duration::from_secs(1);
/// The questions of a step until then, however long they take on a machine that is busy.
const ASKS: usize = 100;
/// The time in which they are so where a process stands still for some seconds.
const LATE: Duration = Duration::from_secs(30);

/// The pause of a client between two questions, of a single one and of one of several. The others
/// need the processors too.
const PAUSE_ALONE: Duration = Duration::from_millis(40);
const PAUSE: Duration = Duration::from_millis(20);

pub(super) struct Lane {
    app: Arc<App>,
    database: TestDatabase,
    heard: Arc<Heard>,
}

/// The answers that clients heard.
#[derive(Default)]
struct Heard {
    /// Twice the number of changes that are settled, and one more while another is under way.
    now: AtomicUsize,
    stop: AtomicBool,
    answers: Mutex<BTreeSet<Answer>>,
}

/// An answer, and what was under way when it was asked for and when it came.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Answer {
    cell: &'static str,
    asked: usize,
    came: usize,
    text: String,
}

#[derive(Default)]
pub(super) struct Report {
    pub(super) faults: Vec<String>,
    pub(super) cells: usize,
    pub(super) with_data: usize,
    pub(super) steps: usize,
    /// The steps after which answers were not right again soon.
    pub(super) late: usize,
    /// The time that a fresh service took to answer last, as a machine that is busy takes its time
    /// for all.
    slack: Duration,
}

/// The answers of all cells.
type Answers = BTreeMap<&'static str, String>;

/// Which errors there are, and with which data beside them, is not compared.
const ERRORS: &str = "errors";

fn cells() -> impl Iterator<Item = &'static str> {
    CELLS.iter().map(|(cell, _)| *cell).chain(["cached SQL"])
}

async fn ask(app: &App, cell: &str) -> String {
    let body = CELLS
        .iter()
        .find(|(name, _)| *name == cell)
        .map_or_else(cached, |(_, query)| json!({ "query": query }));
    let Reply { text, .. } = app.post(&body).await;
    if text.contains("\"errors\"") {
        ERRORS.to_owned()
    } else {
        text
    }
}

async fn all(app: &App) -> Answers {
    let mut answers = Answers::new();
    for cell in cells() {
        answers.insert(cell, ask(app, cell).await);
    }
    answers
}

impl Heard {
    async fn listen(self: Arc<Self>, app: Arc<App>, pause: Duration) {
        for cell in cells().collect::<Vec<_>>().into_iter().cycle() {
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            let asked = self.now.load(Ordering::SeqCst);
            let text = ask(&app, cell).await;
            let came = self.now.load(Ordering::SeqCst);
            self.answers.lock().unwrap().insert(Answer {
                cell,
                asked,
                came,
                text,
            });
            tokio::time::sleep(pause).await;
        }
    }
}

impl Lane {
    pub(super) async fn start() -> Self {
        let database = TestDatabase::new(SQL).await;
        let app = Arc::new(App::serve(options(database.url(), 500)).await);
        Self {
            app,
            database,
            heard: Arc::default(),
        }
    }

    /// Makes the changes, while so many clients ask.
    pub(super) async fn run(self, changes: &[Change], clients: u64) -> Report {
        let mut report = Report::default();
        let mut right = vec![(String::new(), all(&self.app).await)];
        let pause = if clients == 1 { PAUSE_ALONE } else { PAUSE };
        let clients: Vec<_> = (0..clients)
            .map(|_| tokio::spawn(self.heard.clone().listen(self.app.clone(), pause)))
            .collect();
        for change in changes {
            for (step, sql) in change.steps.iter().enumerate() {
                // From what the change before has left.
                let sql = if step == 0 {
                    restore() + ";" + sql
                } else {
                    sql.clone()
                };
                let name = format!("{}, step {step}", change.name);
                let answers = self.step(&name, &sql, None, &mut report).await;
                right.push((name, answers));
            }
        }
        let first = right[0].1.clone();
        let answers = self
            .step("all undone", &restore(), Some(first), &mut report)
            .await;
        right.push(("all undone".to_owned(), answers));
        self.heard.stop.store(true, Ordering::SeqCst);
        for client in clients {
            client.await.unwrap();
        }
        let answers = self.heard.answers.lock().unwrap();
        report
            .faults
            .extend(answers.iter().filter_map(|answer| answer.fault(&right)));
        report
    }

    /// Makes one step of a change, and waits until all answers are right: what they should be is
    /// known, or else what a fresh service says.
    async fn step(
        &self,
        name: &str,
        sql: &str,
        right: Option<Answers>,
        report: &mut Report,
    ) -> Answers {
        self.heard.now.fetch_add(1, Ordering::SeqCst);
        self.database.execute(sql).await;
        let start = Instant::now();
        let right = match right {
            Some(right) => right,
            None => {
                let right = all(&App::serve(options(self.database.url(), 0)).await).await;
                report.slack = start.elapsed();
                right
            }
        };
        let (mut asks, mut is_late) = (0, false);
        for (cell, expected) in &right {
            let mut answer = ask(&self.app, cell).await;
            while answer != *expected && start.elapsed() < LATE + report.slack {
                is_late |= start.elapsed() >= SOON + report.slack && asks >= ASKS;
                tokio::time::sleep(Duration::from_millis(10)).await;
                answer = ask(&self.app, cell).await;
                asks += 1;
            }
            if answer != *expected {
                let after = start.elapsed();
                report.faults.push(format!(
                    "[{name}] {cell}: after {after:?} still {answer}\n    instead of {expected}"
                ));
            }
        }
        report.steps += 1;
        report.late += usize::from(is_late);
        report.cells += right.len();
        report.with_data += right.values().filter(|text| *text != ERRORS).count();
        self.heard.now.fetch_add(1, Ordering::SeqCst);
        right
    }
}

impl Answer {
    /// Why the answer was not right when it was given.
    fn fault(&self, right: &[(String, Answers)]) -> Option<String> {
        let Self {
            cell,
            asked,
            came,
            text,
        } = self;
        let (first, last) = (asked / 2, came.div_ceil(2));
        let was_changing = asked % 2 == 1 || came != asked;
        let allowed = right[first..=last]
            .iter()
            .any(|(_, answers)| answers[cell] == *text);
        if allowed || (was_changing && text == ERRORS) {
            return None;
        }
        let when = if was_changing {
            "while it changed"
        } else {
            "after it was settled"
        };
        let expected: Vec<_> = right[first..=last]
            .iter()
            .map(|(_, answers)| answers[cell].as_str())
            .collect();
        Some(format!(
            "[{}] {cell}, {when}: {text}\n    instead of {}",
            right[last].0,
            expected.join("\n    or ")
        ))
    }
}
