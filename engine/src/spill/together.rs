//! Two tasks at the same time. Readers have no threads of their own: they name tasks that are
//! independent of each other.

/// Runs two tasks, at the same time where it can.
pub trait Together: Sync {
    /// Runs both tasks to their ends. `aside` may run on another thread.
    fn run(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut());

    /// Whether they run at the same time, so that one may wait for the other.
    fn is_at_once(&self) -> bool {
        false
    }
}

/// Runs one task after the other.
#[derive(Debug, Clone, Copy)]
pub struct InTurn;

impl Together for InTurn {
    fn run(&self, aside: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
        here();
        aside();
    }
}
