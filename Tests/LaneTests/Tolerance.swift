import Model
import Testing

/// The permitted difference of the lanes: the mean difference of samples, in 255ths.
///
/// Measured between images of at least 24 × 24 pixels: 0.9 at most if the decoder reduces by no
/// more than 2; otherwise 1.7, since libjpeg then returns 4:2:2 and 4:4:0 chroma in half the
/// columns or rows, which libvips repeats and zimg interpolates. In images of a few pixels most are
/// edges, which zimg mirrors and libvips repeats. If the general lane rotates a reduced image, one
/// edge is off by up to half a column (`ReducedSide`): 3.4, which does not affect the planes, as
/// the reference shows.
enum Tolerance {
    /// Expects both lanes to produce the same image for a job.
    ///
    /// - Parameter slack: an additional tolerance, if a few pixels may become hundreds.
    static func check(_ lanes: Lanes, _ job: Job, slack: Double = 0) throws {
        let planar = try lanes.planar(job)
        let general = try lanes.general(job)
        try #require(planar.size == general.size, "\(job)")
        let difference = try planar.difference(from: general)
        let (factor, isTurned) = try lanes.reduction(job)
        let side = min(planar.size.width, planar.size.height)
        let most = mean(side, reduction: factor, isTurned: isTurned) + slack
        #expect(difference <= most, "\(planar.size), reduced by \(factor): \(job)")
    }

    private static func mean(_ side: Int, reduction: Int, isTurned: Bool) -> Double {
        guard side >= 24 else { return side >= 8 ? 4 : 16 }
        if isTurned, reduction > 1 { return 4 }
        return reduction > 2 ? 2 : 1
    }
}
