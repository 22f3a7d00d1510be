/// How columns, or rows, are mapped to another number of them.
///
/// To make fewer, libvips takes the whole image, makes `round(width / factor)` columns and centres
/// what it has left over or lacks. To get columns that begin at a given fraction of a pixel all the
/// same, columns are added at either end, by repeating the last, until libvips' own rounding puts
/// one of its columns where the first of ours has to be; what lies before and behind is cut off.
struct ResampledSide: Equatable {
    /// Where the first column of the result begins in the image.
    let start: Double
    /// Columns of the image that make one of the result.
    let factor: Double
    /// Columns added in front.
    private(set) var before = 0
    /// Columns added behind.
    private(set) var after = 0
    /// Columns of what libvips makes that come before the result.
    private(set) var skip = 0

    private let count: Int
    private let target: Int

    /// Columns of the result that it may be off, which nobody sees.
    private static let tolerance = 0.01
    /// Columns that are added at either end at most.
    private static let addedMax = 16

    /// - Parameters:
    ///   - count: columns of the image.
    ///   - start: where the part that counts begins, at least 0.
    ///   - extent: its width; more than 0.
    ///   - target: columns wanted; at least 1.
    init(count: Int, start: Double, extent: Double, target: Int) {
        self.count = count
        self.target = target
        self.start = start
        factor = extent / Double(target)
        guard isReduced else { return }
        place()
    }

    /// Whether Lanczos is needed. Where hardly anything becomes smaller, adding columns moves the
    /// result hardly at all, and a bicubic interpolation, which can begin anywhere, loses nothing.
    var isReduced: Bool { factor > 1.03 }

    /// Also where only the start is a fraction.
    var isInterpolated: Bool { !isReduced && !(factor == 1 && start == 0 && count == target) }

    /// Adds as little as makes the error small enough, else what makes it smallest.
    private mutating func place() {
        var best = Double.infinity
        var found = self
        for total in 0...(2 * Self.addedMax) {
            for before in max(0, total - Self.addedMax)...min(total, Self.addedMax) {
                var candidate = self
                candidate.before = before
                candidate.after = total - before
                guard let error = candidate.align(), error < best else { continue }
                (best, found) = (error, candidate)
            }
            if best <= Self.tolerance { break }
        }
        self = found
    }

    /// Chooses the column with which the result begins; answers by how much it is off, in columns
    /// of the result, nil where there are not enough of them.
    private mutating func align() -> Double? {
        let length = before + count + after
        let made = Int(Double(length) / factor + 0.5)
        let centring = (Double(length) - Double(made) * factor) / 2
        let wanted = Double(before) + start
        skip = max(0, Int(((wanted - centring) / factor).rounded()))
        guard made >= skip + target else { return nil }
        return abs(centring + Double(skip) * factor - wanted) / factor
    }
}
