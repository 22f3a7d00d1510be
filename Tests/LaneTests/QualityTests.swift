import CodecSupport
import JPEG
import Model
import TestKit
import Testing

/// How close the planar lane comes to a full-resolution reduction, compared with libvips.
@Suite struct QualityTests {
    /// Above this, differences are invisible and the comparison is meaningless.
    static let perfect = 45.0
    static let allowance = 0.3

    @Test(arguments: PlaneSubsampling.all, Samples.sizes)
    func planesAreAsNearAsLibvips(
        subsampling: PlaneSubsampling, size: (width: Int, height: Int)
    ) throws {
        let lanes = try Samples.jpeg(size.width, size.height, subsampling)
        for side in [
            4000, size.width * 2 / 3, size.width * 10 / 21, size.width / 5 + 1,
            size.width / 8,
        ] {
            for format in [ImageFormat.jpeg, .png] {
                let found = try RunMetrics(lanes, .fit(side, as: format))
                // With few pixels, one rounding of the encoder decides.
                guard format == .png || min(found.size.width, found.size.height) >= 24 else {
                    continue
                }
                #expect(
                    found.ours >= min(Self.perfect, found.theirs - Self.allowance), "\(found)")
            }
        }
    }

    /// Reduced by 2, 4 and 8, no side of the image is a whole number of samples. Measured: 2.7 dB
    /// at least, 15 at most; none if the fraction is ignored.
    @Test(arguments: PlaneSubsampling.all, [286, 121, 75])
    func fractionsOfAPixelAreKept(subsampling: PlaneSubsampling, side: Int) throws {
        let found = try RunMetrics(Samples.jpeg(601, 403, subsampling), .fit(side, as: .png))
        #expect(found.ours >= found.theirs + 2, "\(found)")
    }

    /// Without a photograph, a generated image stands in for it and gets the usual allowance.
    @Test(arguments: [512, 300, 1000, 128])
    func aPhotographIsNearerThanOfLibvips(side: Int) throws {
        let found = try RunMetrics(Lanes(bytes: Fixtures.photo()), .fit(side))
        let allowance = Fixtures.folder == nil ? Self.allowance : 0
        #expect(found.ours >= found.theirs - allowance, "\(found)")
    }
}

/// PSNR against the reference.
private struct RunMetrics: CustomStringConvertible {
    let job: Job
    let size: PixelSize
    let ours: Double
    let theirs: Double

    init(_ lanes: Lanes, _ job: Job) throws {
        self.job = job
        let reference = try VipsWay.reference(lanes.bytes, job)
        size = reference.size
        ours = try lanes.planar(job).psnr(against: reference)
        theirs = try VipsWay.usual(lanes.bytes, job).psnr(against: reference)
    }

    var description: String { "\(job): \(size), ours \(ours) dB, libvips \(theirs) dB" }
}
