//! The regions of a rank.

use crate::base::Result;
use crate::exec::Work;
use crate::insight::region::RankRegions;
use crate::makers;
use crate::segment::{Bytes, Segment};
use crate::wire::regions::RegionList;

/// The regions of a rank, on its own clock. All ranks together have none.
pub fn regions<B: Bytes>(segment: &Segment<B>, work: Work<'_>) -> Result<RegionList> {
    if makers::job::is_job(segment.footer()) {
        let reason = "steps are those of single ranks".to_owned();
        return Ok(RegionList { no_steps: Some(reason), ..RegionList::default() });
    }
    let cancel = work.cancel;
    let marks = makers::marks(segment, cancel)?;
    let found = RankRegions::of(&makers::work_of_steps(segment, &marks, cancel)?, &marks, cancel)?;
    Ok(RegionList::from(&found))
}
