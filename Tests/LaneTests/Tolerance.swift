import ImageModel
import Testing

/// How far the lanes may be from each other: the mean difference of samples, in 255ths.
///
/// Measured between images of at least 24 × 24 pixels: 0.9 at most where the decoder reduces by
/// no more than 2; else 1.7, since of 4:2:2 and
/// 4:4:0 libjpeg then gives colors in half the columns or rows, which libvips repeats and zimg
/// interpolates. Of a few pixels most are edges, which zimg mirrors and libvips repeats. Where the
/// general lane turns what was reduced, it puts one edge up to half a column off (`ReducedSide`):
/// 3.4, of which the planes have nothing, as the reference shows.
enum Tolerance {
    /// Expects both lanes to give one image for a job.
    ///
    /// - Parameter slack: what is permitted besides, where a few pixels may become hundreds.
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
