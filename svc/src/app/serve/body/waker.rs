//! The waker of a connection's task, as hyper gets it.

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

thread_local! {
    /// The id of the connection whose task this thread polls; 0 if there is none.
    static POLLED: Cell<usize> = const { Cell::new(0) };

    /// The read of a body that runs on this thread.
    static READ: Cell<Option<Read>> = const { Cell::new(None) };
}

/// A read of a body.
struct Read {
    /// The id of the body's connection.
    connection: usize,
    /// The connection's waker, if the read has woken it.
    held: Option<Arc<TaskWaker>>,
}

impl Read {
    /// Holds back the first wake of the body's connection. Returns whether it is this one.
    fn hold(&mut self, waker: &Arc<TaskWaker>) -> bool {
        let holds = self.held.is_none() && self.connection == waker.connection;
        if holds {
            self.held = Some(waker.clone());
        }
        holds
    }
}

/// The waker of a task, whose wakes a [`HeldWake`] holds back.
struct TaskWaker {
    /// The id of the connection that the task serves.
    connection: usize,
    task: Waker,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let is_held = READ.try_with(|current| {
            let mut read = current.take();
            let is_held = read.as_mut().is_some_and(|read| read.hold(&self));
            current.set(read);
            is_held
        });

        if !is_held.unwrap_or(false) {
            self.task.wake_by_ref();
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.task.wake_by_ref();
    }
}

/// The waker that a connection gives hyper.
pub(in crate::app::serve) struct ConnectionWaker {
    /// The id of the connection.
    connection: usize,
    /// The waker, and the task that it wakes; `None` before the first poll.
    current: Option<(Waker, Waker)>,
}

impl ConnectionWaker {
    pub(in crate::app::serve) fn new(connection: usize) -> Self {
        Self {
            connection,
            current: None,
        }
    }

    /// Polls the connection for this task, with the waker for hyper.
    pub(in crate::app::serve) fn polling<T>(
        &mut self,
        task: &Waker,
        poll: impl FnOnce(&mut Context<'_>) -> T,
    ) -> T {
        let _polled = Polled::begin(self.connection);
        poll(&mut Context::from_waker(self.waking(task)))
    }

    /// Returns the waker for hyper, which wakes this task.
    fn waking(&mut self, task: &Waker) -> &Waker {
        let is_other = |(_, current): &(Waker, Waker)| !current.will_wake(task);
        if self.current.as_ref().is_some_and(is_other) {
            self.current = None;
        }

        let (waker, _) = self.current.get_or_insert_with(|| {
            let waker = TaskWaker {
                connection: self.connection,
                task: task.clone(),
            };
            (Arc::new(waker).into(), task.clone())
        });
        waker
    }
}

/// Marks a connection as polled by this thread, until it is dropped.
struct Polled {
    /// The connection that the thread polled before.
    outer: usize,
}

impl Polled {
    fn begin(connection: usize) -> Self {
        let outer = POLLED.try_with(|polled| polled.replace(connection));
        Self {
            outer: outer.unwrap_or_default(),
        }
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        // A thread that ends polls nothing.
        let _ = POLLED.try_with(|polled| polled.set(self.outer));
    }
}

/// Holds back the wake of a connection by the read of a body on this thread. Dropped, it lets the
/// wake happen.
pub(super) struct HeldWake(());

impl HeldWake {
    /// Begins a read of a body of this connection. Holds nothing back outside of the connection's
    /// task: there, hyper may run at the same time on another thread, and a wake that this causes
    /// here would be lost.
    pub(super) fn begin(connection: usize) -> Self {
        let begun = Self(());
        let is_polled = POLLED
            .try_with(Cell::get)
            .is_ok_and(|polled| polled == connection);
        let read = is_polled.then_some(Read {
            connection,
            held: None,
        });
        if let Some(earlier) = change(read) {
            earlier.task.wake_by_ref();
        }
        begun
    }

    /// Ends the read without the wake.
    pub(super) fn forget(self) {
        drop(change(None));
    }
}

impl Drop for HeldWake {
    fn drop(&mut self) {
        if let Some(held) = change(None) {
            held.task.wake_by_ref();
        }
    }
}

/// Begins or ends a read on this thread, and returns the wake that was held back.
fn change(to: Option<Read>) -> Option<Arc<TaskWaker>> {
    READ.try_with(|read| read.replace(to)).ok().flatten()?.held
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Waker;

    use svc_core::task::wake_flag::WakeFlag;

    use super::{ConnectionWaker, HeldWake, Polled};

    /// The task of a connection.
    struct Task {
        flag: Arc<WakeFlag>,
        connection: ConnectionWaker,
    }

    impl Task {
        fn of(connection: usize) -> Self {
            Self {
                flag: Arc::default(),
                connection: ConnectionWaker::new(connection),
            }
        }

        /// Returns the waker that hyper gets.
        fn waker(&mut self) -> Waker {
            let task = Waker::from(self.flag.clone());
            self.connection.waking(&task).clone()
        }

        /// Whether it was woken since the last call.
        fn was_woken(&self) -> bool {
            self.flag.take_wake(Waker::noop())
        }
    }

    #[test]
    fn a_wake_reaches_the_task() {
        let mut task = Task::of(1);

        task.waker().wake();
        assert!(task.was_woken());

        task.waker().wake_by_ref();
        assert!(task.was_woken() && !task.was_woken());
    }

    #[test]
    fn a_held_wake_happens_after_the_read_unless_it_is_forgotten() {
        let mut task = Task::of(1);
        let _polled = Polled::begin(1);

        let held = HeldWake::begin(1);
        task.waker().wake();
        assert!(!task.was_woken());
        drop(held);
        assert!(task.was_woken());

        let held = HeldWake::begin(1);
        task.waker().wake();
        held.forget();
        assert!(!task.was_woken());

        task.waker().wake();
        assert!(task.was_woken());
    }

    #[test]
    fn wakes_of_other_connections_and_threads_are_not_held() {
        let (mut one, mut two) = (Task::of(1), Task::of(2));
        let _polled = Polled::begin(1);
        let held = HeldWake::begin(1);

        two.waker().wake();
        assert!(two.was_woken());

        let waker = one.waker();
        let woken = std::thread::spawn(move || waker.wake()).join();
        assert!(woken.is_ok() && one.was_woken());

        one.waker().wake();
        two.waker().wake();
        assert!(!one.was_woken() && two.was_woken());

        held.forget();
        assert!(!one.was_woken());
    }

    #[test]
    fn only_the_task_of_a_connection_holds_its_wake() {
        let mut task = Task::of(1);
        let mut is_held = || {
            let held = HeldWake::begin(1);
            task.waker().wake();
            held.forget();
            !task.was_woken()
        };
        assert!(!is_held());

        let polled = Polled::begin(1);
        assert!(is_held());
        let inner = Polled::begin(2);
        assert!(!is_held());
        drop(inner);
        assert!(is_held());
        drop(polled);
        assert!(!is_held());
    }

    #[test]
    fn another_task_gets_another_waker() {
        let (mut one, two) = (Task::of(1), Task::of(2));
        drop(one.waker());

        let task = Waker::from(two.flag.clone());
        one.connection.waking(&task).wake_by_ref();
        assert!(two.was_woken() && !one.was_woken());
    }
}
