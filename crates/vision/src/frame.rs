//! Upright rectangles of pixels.

/// A rectangle: `left` and `top` are in it, `right` and `bottom` are the first beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) right: usize,
    pub(crate) bottom: usize,
}

impl Frame {
    pub(crate) fn pixel(x: usize, y: usize) -> Self {
        Self {
            left: x,
            top: y,
            right: x + 1,
            bottom: y + 1,
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.right.saturating_sub(self.left)
    }

    pub(crate) fn height(&self) -> usize {
        self.bottom.saturating_sub(self.top)
    }

    pub(crate) fn area(&self) -> usize {
        self.width() * self.height()
    }

    pub(crate) fn centre(&self) -> (usize, usize) {
        (
            usize::midpoint(self.left, self.right),
            usize::midpoint(self.top, self.bottom),
        )
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// The smallest frame around all of them.
    pub(crate) fn around<'a>(frames: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut frames = frames.into_iter();
        let first = *frames.next()?;
        Some(frames.fold(first, |all, frame| all.join(frame)))
    }

    pub(crate) fn grown(&self, by: usize, width: usize, height: usize) -> Self {
        Self {
            left: self.left.saturating_sub(by),
            top: self.top.saturating_sub(by),
            right: (self.right + by).min(width),
            bottom: (self.bottom + by).min(height),
        }
    }

    pub(crate) fn holds(&self, x: usize, y: usize) -> bool {
        (self.left..self.right).contains(&x) && (self.top..self.bottom).contains(&y)
    }

    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && self.right >= other.right
            && self.bottom >= other.bottom
    }

    /// How many pixels both have.
    pub(crate) fn shared(&self, other: &Self) -> usize {
        self.shared_width(other) * self.shared_height(other)
    }

    pub(crate) fn shared_width(&self, other: &Self) -> usize {
        let right = self.right.min(other.right);
        right.saturating_sub(self.left.max(other.left))
    }

    pub(crate) fn shared_height(&self, other: &Self) -> usize {
        let bottom = self.bottom.min(other.bottom);
        bottom.saturating_sub(self.top.max(other.top))
    }

    /// The empty columns between them; none where they overlap.
    pub(crate) fn gap_across(&self, other: &Self) -> usize {
        let left = self.left.max(other.left);
        left.saturating_sub(self.right.min(other.right))
    }

    /// The empty rows between them; none where they overlap.
    pub(crate) fn gap_down(&self, other: &Self) -> usize {
        let top = self.top.max(other.top);
        top.saturating_sub(self.bottom.min(other.bottom))
    }

    /// Whether they stand in one row: they share at least half of the height of the lower one.
    pub(crate) fn in_row_with(&self, other: &Self) -> bool {
        2 * self.shared_height(other) >= self.height().min(other.height())
    }
}
