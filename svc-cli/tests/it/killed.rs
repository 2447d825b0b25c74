//! `svc migrate up`, killed at moments that are held still by locks; the next run completes the
//! database.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::database::project;
use crate::support::{Place, command, said};

/// The files, in the order in which they run. Each reads tables that a moment may have locked.
const FILES: [(&str, &str); 3] = [
    (
        "db/migrations/1_b.sql",
        "SELECT FROM gate_1; CREATE TABLE b (x int); SELECT FROM gate_2; INSERT INTO b VALUES (1); SELECT FROM gate_3; \
         INSERT INTO late VALUES (4);",
    ),
    (
        "db/migrations/2_c.sql",
        "-- svc: no transaction\nSELECT FROM gate_1; CREATE TABLE IF NOT EXISTS c (x int UNIQUE); SELECT FROM gate_2; \
         CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON c (x); SELECT FROM gate_3; \
         INSERT INTO c VALUES (1) ON CONFLICT DO NOTHING;",
    ),
    (
        "db/schema/001_a.sql",
        "SELECT FROM gate_1; CREATE TABLE IF NOT EXISTS a (x int UNIQUE); SELECT FROM gate_2; \
         INSERT INTO a VALUES (1) ON CONFLICT DO NOTHING; SELECT FROM gate_3; INSERT INTO late VALUES (4);",
    ),
];

/// The tables that are locked, and one whose new rows look at another of them when their
/// transaction is committed.
const GATES: &str = "\
    CREATE TABLE gate_1 (); CREATE TABLE gate_2 (); CREATE TABLE gate_3 (); CREATE TABLE gate_4 (); \
    CREATE TABLE late (x int); \
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM FROM gate_4; RETURN NULL; END'; \
    CREATE CONSTRAINT TRIGGER look AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION look()";

/// The lock of `svc migrate`: the bytes of `svc-migr` as a number.
const OTHER_RUN: &str = "SELECT pg_advisory_lock(8319946408373872498)";
const RECORD: &str = "LOCK TABLE svc_history.migrations IN SHARE MODE";

/// A moment of a run.
#[derive(Debug)]
struct Moment {
    /// The number of files that an earlier run has applied; past the last one, the last file
    /// changes.
    done: usize,
    /// Locks what the run comes to; without a lock, it has just begun.
    gate: &'static str,
    /// Locks what it comes to next, while the first lock holds it.
    then: &'static str,
}

const fn at(done: usize, gate: &'static str) -> Moment {
    Moment {
        done,
        gate,
        then: "",
    }
}

const fn behind(done: usize, gate: &'static str, then: &'static str) -> Moment {
    Moment { done, gate, then }
}

const MOMENTS: [Moment; 24] = [
    at(0, ""),
    at(0, OTHER_RUN),
    at(0, "CREATE SCHEMA svc_history"),
    at(0, "LOCK TABLE gate_1"),
    at(0, "LOCK TABLE gate_2"),
    at(0, "LOCK TABLE gate_3"),
    behind(0, "LOCK TABLE gate_3", RECORD),
    at(0, "LOCK TABLE gate_4"),
    at(1, OTHER_RUN),
    at(1, RECORD),
    at(1, "LOCK TABLE gate_1"),
    at(1, "LOCK TABLE gate_2"),
    // The index waits for a transaction that may write to the table without it.
    behind(1, "LOCK TABLE gate_2", "LOCK TABLE c IN ROW EXCLUSIVE MODE"),
    at(1, "LOCK TABLE gate_3"),
    behind(1, "LOCK TABLE gate_3", RECORD),
    at(2, "LOCK TABLE svc_history.migrations"),
    at(2, "LOCK TABLE gate_1"),
    at(2, "LOCK TABLE gate_2"),
    at(2, "LOCK TABLE gate_3"),
    at(2, RECORD),
    at(2, "LOCK TABLE gate_4"),
    at(3, "LOCK TABLE gate_2"),
    at(3, RECORD),
    at(3, "LOCK TABLE gate_4"),
];

/// A session that holds locks until it is dropped.
struct Holder(Child);

impl Holder {
    /// Waits until it holds them.
    fn new(place: &Place, sql: &str) -> Self {
        let holder = Self::begin(place, sql);
        let held = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $$NAME$$ \
            AND state = 'idle in transaction' AND datname = current_database()";
        let held = held.replace("NAME", &format!("holds {sql}"));
        wait(|| place.ask(&held) == "1");
        holder
    }

    fn begin(place: &Place, sql: &str) -> Self {
        let mut psql = Command::new("psql");
        psql.args(["-qXAt", "-v", "ON_ERROR_STOP=1", &place.url()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let mut holder = Self(psql.spawn().expect("psql"));
        let input = holder.0.stdin.as_mut().expect("its input");
        writeln!(
            input,
            "BEGIN; {sql}; SET application_name = $$holds {sql}$$;"
        )
        .expect("its input");
        holder
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It ends with its input.
        let _ = self.0.wait();
    }
}

#[track_caller]
fn wait(is_done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_done() {
        assert!(
            begun.elapsed() < Duration::from_secs(300),
            "it does not come to that"
        );
    }
}

/// The lock that the run waits for; empty where it waits for none.
fn blocked(place: &Place) -> String {
    place.ask(
        "SELECT string_agg(coalesce(relation::regclass::text, locktype), ',') FROM pg_locks \
         JOIN pg_stat_activity USING (pid) WHERE NOT granted AND application_name = 'svc' \
         AND datname = current_database()",
    )
}

/// The run, which is killed at a moment, and its backend with it where that is to be so.
fn kill(place: &Place, moment: &Moment, with_backend: bool) {
    let gate = (!moment.gate.is_empty()).then(|| Holder::new(place, moment.gate));
    let mut run = command(&place.path("."));
    let mut run = run
        .args(["migrate", "up"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary");
    let mut last = None;
    if gate.is_some() {
        wait(|| !blocked(place).is_empty());
    }
    if !moment.then.is_empty() {
        let first = blocked(place);
        last = Some(Holder::new(place, moment.then));
        drop(gate);
        wait(|| ![String::new(), first.clone()].contains(&blocked(place)));
    }
    // One that nothing holds may be quicker than this test.
    let has_ended = !moment.gate.is_empty() && run.try_wait().expect("its state").is_some();
    assert!(!has_ended, "{moment:?}: it has ended before");
    run.kill().expect("kill");
    run.wait().expect("its end");
    if with_backend {
        place.ask(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'svc' \
             AND datname = current_database()",
        );
    }
    drop(last);
}

/// Completes the database, and looks whether each file has been applied exactly once.
fn complete(place: &Place, moment: &Moment) {
    let mut next = place.svc(&["migrate", "up"]);
    if next
        .err
        .contains("was interrupted outside of a transaction")
    {
        // What such a file has left, only the user can say.
        assert_eq!(moment.done, 1, "{moment:?}: {}", next.err);
        let invalid = "SELECT FROM pg_index WHERE NOT indisvalid";
        place.ask(&format!(
            "DO $$ BEGIN IF EXISTS ({invalid}) THEN DROP INDEX i; END IF; END $$"
        ));
        place.svc(&["migrate", "repair"]).good();
        next = place.svc(&["migrate", "up"]);
    }
    assert_eq!(next.code, Some(0), "{moment:?}: {}", next.err);
    let late = if moment.done < FILES.len() { 2 } else { 3 };
    let counts = "SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b), (SELECT count(*) FROM c), \
        (SELECT count(*) FROM late), (SELECT bool_and(finished)::text || count(*) FROM svc_history.migrations), \
        (SELECT bool_and(indisvalid) FROM pg_index)";
    assert_eq!(
        place.ask(counts),
        format!("1|1|1|{late}|true3|t"),
        "{moment:?}: {}",
        next.err
    );
    assert!(
        place
            .svc(&["migrate", "up"])
            .err
            .contains("the database is up to date"),
        "{moment:?}"
    );
}

fn killed_and_completed(with_backend: bool) {
    for moment in &MOMENTS {
        let place = project();
        place.ask(GATES);
        let write = |files: &[(&str, &str)]| {
            files
                .iter()
                .for_each(|(path, text)| place.write(path, text));
        };
        if moment.done > 0 {
            write(&FILES[..moment.done]);
            place.svc(&["migrate", "up"]).good();
        }
        write(&FILES);
        if moment.done == FILES.len() {
            place.write(FILES[2].0, &format!("-- It has changed.\n{}", FILES[2].1));
        }
        kill(&place, moment, with_backend);
        complete(&place, moment);
    }
}

#[test]
fn a_run_that_is_killed_at_any_moment_is_completed() {
    killed_and_completed(false);
}

#[test]
fn a_run_whose_server_crashes_too_is_completed() {
    killed_and_completed(true);
}

#[test]
fn a_second_run_waits_for_the_first_and_says_so() {
    let place = project();
    place.write("db/migrations/1_a.sql", "CREATE TABLE a ()");
    let first = Holder::new(&place, OTHER_RUN);
    let mut second = command(&place.path("."));
    let second = second
        .args(["migrate", "up"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    wait(|| blocked(&place) == "advisory");
    drop(first);
    let second = said(second.wait_with_output().expect("its end"));
    assert!(
        second.err.starts_with(
            "another `svc migrate` is changing this database; waiting for it to finish\n"
        ),
        "{}",
        second.err
    );
    second.good();
}

#[test]
fn an_enum_label_added_ahead_obeys_the_lock_timeout() {
    let place = project();
    place.ask("CREATE TYPE state AS ENUM ('new'); CREATE TABLE gate_1 ()");
    place.write(
        "db/migrations/1_a.sql",
        "ALTER TYPE state ADD VALUE 'gone'; SELECT FROM gate_1;\n\
         CREATE VIEW v_gone AS SELECT 'gone'::state AS state;",
    );
    let gate = Holder::new(&place, "LOCK TABLE gate_1");
    let up = command(&place.path("."))
        .args(["migrate", "up", "--lock-timeout", "20"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary");
    wait(|| blocked(&place) == "gate_1");
    // Another session is next in the queue for the type, and gets it when the run, which cannot use
    // its new label yet, rolls back.
    let other = Holder::begin(&place, "ALTER TYPE state ADD VALUE 'other'");
    let queue = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) \
        WHERE NOT granted AND locktype = 'object' AND datname = current_database()";
    wait(|| place.ask(queue) == "1");
    drop(gate);
    let words = said(up.wait_with_output().expect("its end")).bad();
    drop(other);
    assert!(
        words.contains("error: db/migrations/1_a.sql:1: canceling statement due to lock timeout"),
        "{words}"
    );
    place.svc(&["migrate", "up"]).good();
    place.ask("SELECT state FROM v_gone");
}
