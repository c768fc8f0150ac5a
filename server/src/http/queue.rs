//! The questions of one weight: a limited number runs at once, and the others wait in order.
//!
//! A thread that has answered a question goes on with the next one that waits. So none has to wake
//! up between two questions: the wake-ups took a tenth of the time of a server with many viewers.
//!
//! *Invariant.* A question that waits has no thread, and holds no memory once its client has left.
//! A question waits for its answer and for a free turn at the same time, so none is forgotten,
//! whoever gives a turn back.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Result;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::spawn_blocking;

/// A turn. It ends when it is dropped.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "it is held, not read")] Option<OwnedSemaphorePermit>);

impl Turn {
    /// The turn of a question that needs none.
    pub(super) const LIGHT: Self = Self(None);
}

/// A question that runs with a turn.
type TurnJob = Box<dyn FnOnce(&Turn) + Send>;

/// The questions of one weight.
pub(super) struct TurnQueue {
    free: Arc<Semaphore>,
    line: Mutex<WaitingLine>,
    /// Work that waits for its turn on a thread of its own.
    others: AtomicUsize,
}

/// The questions that wait.
#[derive(Default)]
struct WaitingLine {
    /// Questions by the number of their place.
    jobs: BTreeMap<u64, TurnJob>,
    /// Number of the next place. No number is used again.
    next: u64,
}

/// A place in the queue, given up when it is dropped.
struct QueuePlace<'q> {
    queue: &'q TurnQueue,
    number: u64,
}

/// Counts work while it waits.
struct Waits<'q>(&'q AtomicUsize);

impl TurnQueue {
    /// A queue in which so many questions run at once.
    pub fn new(at_once: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(at_once));
        Arc::new(Self { free, line: Mutex::default(), others: AtomicUsize::new(0) })
    }

    /// A turn, if one is free now.
    pub fn take(&self) -> Option<Turn> {
        Arc::clone(&self.free).try_acquire_owned().ok().map(|permit| Turn(Some(permit)))
    }

    /// Returns true if a turn is free now.
    pub fn is_free(&self) -> bool {
        self.free.available_permits() > 0
    }

    /// Waits for a turn. Turns come in the order of the calls; a dropped future gives its place in
    /// the order up.
    pub async fn wait(&self) -> Turn {
        self.others.fetch_add(1, Ordering::Relaxed);
        let _waits = Waits(&self.others);
        self.acquire().await
    }

    /// Number of questions, and of other work, that wait for a turn.
    pub fn waiting(&self) -> usize {
        self.line().jobs.len() + self.others.load(Ordering::Relaxed)
    }

    /// Runs work with a turn, on a thread where it may block. A dropped future gives its place up,
    /// and work that runs then goes on to its end. `None` if the runtime ends.
    ///
    /// # Errors
    /// The panic of the work.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Turn) -> T + Send + 'static,
    ) -> Option<Result<T>> {
        let (answer, mut answered) = oneshot::channel();
        let job: TurnJob = Box::new(move |turn| {
            if !answer.is_closed() {
                // Nobody takes the answer of a client that has left meanwhile.
                drop(answer.send(catch_unwind(AssertUnwindSafe(|| work(turn)))));
            }
        });
        if let Some(turn) = self.take() {
            self.begin(turn, job);
            return answered.await.ok();
        }
        let _place = self.push(job);
        // Not all turns end on a thread that goes on with the next question. The next one can be of
        // another client, so this one asks for turns while any question waits.
        loop {
            tokio::select! {
                biased;
                answer = &mut answered => return answer.ok(),
                turn = self.acquire() => match self.next() {
                    Some(job) => self.begin(turn, job),
                    None => return answered.await.ok(),
                }
            }
        }
    }

    /// Runs a question on a thread, and after it those that wait, while no other work waits: that
    /// gets its turn from the semaphore, in its order.
    fn begin(self: &Arc<Self>, turn: Turn, first: TurnJob) {
        let queue = Arc::clone(self);
        drop(spawn_blocking(move || {
            first(&turn);
            while queue.others.load(Ordering::Relaxed) == 0
                && let Some(job) = queue.next()
            {
                job(&turn);
            }
        }));
    }

    async fn acquire(&self) -> Turn {
        // Nobody closes this semaphore.
        Turn(Arc::clone(&self.free).acquire_owned().await.ok())
    }

    fn push(&self, job: TurnJob) -> QueuePlace<'_> {
        let mut line = self.line();
        let number = line.next;
        line.next += 1;
        line.jobs.insert(number, job);
        QueuePlace { queue: self, number }
    }

    fn next(&self) -> Option<TurnJob> {
        self.line().jobs.pop_first().map(|(_, job)| job)
    }

    /// A thread that panicked with the lock held has changed nothing by half.
    fn line(&self) -> MutexGuard<'_, WaitingLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        // A job can own much, so it is dropped without the lock.
        let job = self.queue.line().jobs.remove(&self.number);
        drop(job);
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for TurnQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (free, waiting) = (self.free.available_permits(), self.waiting());
        f.debug_struct("Queue").field("free", &free).field("waiting", &waiting).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// The first question holds the only turn until all others wait.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_thread_goes_on_with_those_that_wait_in_their_order() {
        const WAITING: usize = 50;
        let queue = TurnQueue::new(1);
        let (go, held) = mpsc::channel::<()>();
        let first = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { queue.run(move |_| held.recv().is_ok().then(|| std::thread::current().id())).await }
        });
        while queue.free.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut asked = Vec::new();
        for number in 0..WAITING {
            let (queue, order) = (Arc::clone(&queue), Arc::clone(&order));
            let before = queue.waiting();
            let waits = Arc::clone(&queue);
            asked.push(tokio::spawn(async move {
                let work = move |_: &Turn| {
                    order.lock().unwrap().push(number);
                    std::thread::current().id()
                };
                queue.run(work).await.unwrap().unwrap()
            }));
            while waits.waiting() == before {
                tokio::task::yield_now().await;
            }
        }
        go.send(()).unwrap();
        let thread = first.await.unwrap().unwrap().unwrap().unwrap();
        for asked in asked {
            assert_eq!(asked.await.unwrap(), thread, "no other thread woke up");
        }
        assert_eq!(*order.lock().unwrap(), (0..WAITING).collect::<Vec<_>>());
        assert_eq!(queue.waiting(), 0);
        drop(queue.wait().await);
        assert!(queue.is_free());
    }

    #[tokio::test]
    async fn a_question_that_waits_gets_the_turn_of_other_work() {
        let queue = TurnQueue::new(1);
        let turn = queue.take().unwrap();
        let asked = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { queue.run(|_| 7).await.unwrap().unwrap() }
        });
        while queue.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        assert!(queue.take().is_none());
        drop(turn);
        assert_eq!(asked.await.unwrap(), 7);
    }

    /// A client can get a turn for the question of another, and other work can wait behind it.
    #[tokio::test]
    async fn a_client_whose_turn_went_to_another_question_asks_for_the_next() {
        let queue = TurnQueue::new(1);
        let turn = queue.take().unwrap();
        let (answer, answered) = oneshot::channel();
        let _place = queue.push(Box::new(move |_| answer.send(1).unwrap()));
        let asked = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { queue.run(|_| 2).await.unwrap().unwrap() }
        });
        while queue.waiting() < 2 {
            tokio::task::yield_now().await;
        }
        let other = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { drop(queue.wait().await) }
        });
        while queue.waiting() < 3 {
            tokio::task::yield_now().await;
        }
        drop(turn);
        assert_eq!(answered.await.unwrap(), 1);
        other.await.unwrap();
        assert_eq!(timeout(Duration::from_secs(60), asked).await.unwrap().unwrap(), 2);
    }

    #[tokio::test]
    async fn a_client_that_leaves_takes_its_question_along() {
        let queue = TurnQueue::new(1);
        let turn = queue.take().unwrap();
        let owned = Arc::new(());
        let asked = tokio::spawn({
            let (queue, owned) = (Arc::clone(&queue), Arc::clone(&owned));
            async move { queue.run(move |_| owned).await.is_some() }
        });
        while queue.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(Arc::strong_count(&owned), 2);
        asked.abort();
        assert!(asked.await.unwrap_err().is_cancelled());
        assert_eq!((queue.waiting(), Arc::strong_count(&owned)), (0, 1));
        drop(turn);
        assert!(queue.take().is_some());
    }

    /// Questions, other work and clients that leave meet in all orders.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_question_is_forgotten() {
        const CLIENTS: usize = 32;
        const ROUNDS: usize = 200;
        let queue = TurnQueue::new(2);
        let client = |number: usize| {
            let queue = Arc::clone(&queue);
            async move {
                for round in 0..ROUNDS {
                    match (number + round) % 8 {
                        0 => drop(queue.wait().await),
                        1 => drop(timeout(Duration::from_micros(50), queue.run(|_| ())).await),
                        _ => assert_eq!(queue.run(move |_| round).await.unwrap().unwrap(), round),
                    }
                }
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|number| tokio::spawn(client(number))).collect();
        for client in clients {
            // A forgotten question waits for ever.
            timeout(Duration::from_secs(60), client).await.unwrap().unwrap();
        }
        assert_eq!(queue.waiting(), 0);
    }

    #[tokio::test]
    async fn a_panic_is_of_its_question_alone() {
        let queue = TurnQueue::new(1);
        assert!(queue.run(|_| panic!("in the work")).await.unwrap().map(|(): ()| ()).is_err());
        assert_eq!(queue.run(|_| 7).await.unwrap().unwrap(), 7);
    }
}
