import CodecSupport
import JPEG
import Model
import Testing

/// Both lanes produce the same image. PNG shows the geometry without coding noise.
@Suite struct AgreementTests {
    static let (box, size) = (PixelSize(width: 120, height: 130), (width: 333, height: 247))

    /// Step lists that `VipsWay` doesn't implement.
    private static let placed: [[TransformStep]] = [
        [.resize(box, .cover), .cropTo(part, .point(x: 1, y: 0.5))],
        [.resize(box, .cover), .cropTo(part, .moved(x: 0, y: 0, by: offset))],
        [.resize(box, .auto), .cropRatio(AspectRatio(width: 3, height: 4), .pixel(x: 20, y: 30))],
        [.resize(box, .fitTurned)], [.resize(box, .reshape)],
        [.resizeTo(RelativeSize(width: .percent(40), height: .percent(40)), .stretch)],
        [.resizeTo(part, .fill, .pixel(x: 300, y: 20))],
    ]

    private static let part = RelativeSize(width: .pixels(120), height: .pixels(130))
    private static let offset = GravityOffset(x: .pixels(20), y: .percent(3))

    static let jobs: [[TransformStep]] = [
        [],
        [crop(31, 17, 201, 99)], [crop(-5, -7, 100, 1000)],
        [crop(31, 17, 201, 99), .resize(PixelSize(width: 77, height: 77), .fit)],
        [.resize(box, .fit), crop(3, 5, 71, 41)],
        [.resize(box, .fill)], [.resize(box, .letterbox)], [.resize(box, .stretch)],
        [.resize(PixelSize(width: 400, height: 500), .stretch)],
        [.resize(PixelSize(width: 90, height: 401), .stretch)],
        [.flip(horizontal: true, vertical: false), .resize(box, .fill)],
        [.flip(horizontal: false, vertical: true), .resize(box, .fit)],
        [turn(1), .resize(box, .fit)], [turn(2), crop(10, 11, 101, 55)],
        [.resize(box, .fit), turn(3)],
        [
            turn(1), .flip(horizontal: true, vertical: false), .resize(box, .fill),
            crop(9, 9, 50, 51),
        ],
        [.resize(PixelSize(width: 1, height: 1), .stretch)],
        [.resize(PixelSize(width: 1, height: 60), .stretch)],
        [.resize(PixelSize(width: 60, height: 1), .stretch)], [crop(100, 100, 1, 1)],
        [crop(50, 60, 1, 99)],
        [.resize(PixelSize(width: 900, height: 700), .stretch), crop(300, 250, 90, 8)],
        [.resize(PixelSize(width: 900, height: 700), .stretch), crop(300, 250, 8, 90)],
    ]

    @Test(arguments: PlaneSubsampling.all)
    func everyStepGivesOneImage(subsampling: PlaneSubsampling) throws {
        let lanes = try Samples.jpeg(Self.size.width, Self.size.height, subsampling)
        for steps in Self.jobs + Self.placed { try Tolerance.check(lanes, Job(steps, as: .png)) }
    }

    @Test(
        arguments: PlaneSubsampling.all,
        [(64, 64), (17, 9), (9, 8), (1, 17), (3, 1), (1, 1)])
    func smallImagesAreOneToo(
        subsampling: PlaneSubsampling, size: (width: Int, height: Int)
    ) throws {
        let lanes = try Samples.jpeg(size.width, size.height, subsampling, orientation: 5)
        for steps: [TransformStep] in [
            [], [.resize(PixelSize(width: 5, height: 5), .fit)],
            [.resize(PixelSize(width: 31, height: 2), .stretch)],
            [.resize(PixelSize(width: 8, height: 8), .fill)], [Self.crop(0, 0, 1, 1)],
        ] {
            try Tolerance.check(lanes, Job(steps, as: .png), slack: 3)
            // Half of a single column of chroma is still one column.
            _ = try lanes.planar(Job(steps))
        }
    }

    /// Also compared with the correct image: libvips, applying one step after the other to all
    /// pixels.
    @Test(arguments: 1...8)
    func everyOrientationGivesTheImageMeant(orientation: Int) throws {
        let lanes = try Samples.jpeg(
            Self.size.width, Self.size.height, .yuv420, orientation: orientation)
        for steps in Self.jobs {
            let job = Job(steps, as: .png)
            try Tolerance.check(lanes, job)
            let reference = try VipsWay.reference(lanes.bytes, job)
            guard min(reference.size.width, reference.size.height) >= 24 else { continue }
            // Measured: 39.1 at least.
            #expect(try lanes.planar(job).psnr(against: reference) >= 38, "\(job)")
        }
    }

    @Test(arguments: [2, 4, 8], [PlaneSubsampling.yuv420, .yuv422, .gray])
    func everyReductionGivesOneImage(
        reduction: Int, subsampling: PlaneSubsampling
    ) throws {
        for (orientation, width) in [(1, 603), (3, 605), (6, 607)] {
            let lanes = try Samples.jpeg(width, 411, subsampling, orientation: orientation)
            let job = Job.fit(width / reduction - 9, as: .png)
            try #require(try lanes.reduction(job).factor == reduction)
            try Tolerance.check(lanes, job)
        }
    }

    /// Chroma of a JPEG written with half as many columns and rows as luma. At this quality coding
    /// noise is smaller than the effect of half a sample.
    @Test(arguments: PlaneSubsampling.all.filter { $0 != .gray }, [1, 6])
    func colorsLieInTheMiddleOfWhatTheyStandFor(
        subsampling: PlaneSubsampling, orientation: Int
    ) throws {
        let lanes = try Samples.jpeg(
            Self.size.width, Self.size.height, subsampling, orientation: orientation)
        for steps in [
            [], [.resize(PixelSize(width: 255, height: 255), .fit)], [Self.crop(31, 17, 201, 99)],
        ] {
            var job = Job(steps)
            job.output.quality = 89
            let (planar, general) = (try lanes.planar(job), try lanes.general(job))
            let difference = try planar.colorDifference(from: general)
            #expect(difference <= 1.0, "\(job)")
        }
    }

    static func crop(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> TransformStep {
        .crop(PixelRect(x: x, y: y, size: PixelSize(width: width, height: height)))
    }

    static func turn(_ quarters: Int) -> TransformStep {
        .rotate(Rotation(degreesClockwise: Double(quarters) * 90))
    }
}
