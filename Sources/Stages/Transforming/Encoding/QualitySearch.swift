/// Looks for the best quality below one at which a result was too large: by halves, over every
/// second quality from 0 on, so that few of them are tried. Pure.
struct QualitySearch {
    /// Of the qualities 0, 2, 4, …: so many first ones fit, and those from `unfit` on do not.
    private var (fit, unfit) = (0, 0)

    /// All of them below `asked`, which does not fit.
    init(below asked: Int) { unfit = (asked + 1) / 2 }

    /// What to try; nil where the last one that fitted is the best, or none does.
    var next: Int? { fit < unfit ? 2 * middle : nil }

    /// Whether `next` fitted.
    mutating func found(fits: Bool) {
        if fits { fit = middle + 1 } else { unfit = middle }
    }

    private var middle: Int { (fit + unfit) / 2 }
}
