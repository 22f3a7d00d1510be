import Model
import StageKit
import Testing

/// AVIFs decoded to planes, compared with libheif's pixels and `avifdec`'s.
@Suite struct AVIFSourceTests {
    private static let source = TestImage.photograph(333, 247)

    /// Plane properties declared by the files, as produced by the encoder.
    static let kinds: [[String]] = [
        ["-y", "420"], ["-y", "422"], ["-y", "444"],
        ["-y", "420", "-r", "limited"], ["-y", "444", "-r", "limited"],
        ["-y", "420", "--cicp", "1/13/1"], ["-y", "422", "--cicp", "1/1/1", "-r", "limited"],
        ["-y", "420", "--cicp", "1/13/5"], ["-y", "420", "--cicp", "2/2/2"],
    ]

    @Test(arguments: kinds)
    func planesShowThePictureThatOthersShow(options: [String]) throws {
        let lanes = try AVIFFiles.lanes(of: Self.source, options)
        #expect(try layout(lanes).isPlanar)
        let reference = try AVIFFiles.pixels(lanes.bytes)
        let found = try lanes.planar(Job([], as: .png))
        // Both interpolate chroma, with different weights. Measured: 44.4 at least, and 39.2 with
        // another matrix and half of the columns.
        let likeness = try found.psnr(against: reference)
        #expect(likeness >= (options.contains("1/1/1") ? 38.5 : 43.5), "\(likeness)")
    }

    /// libavif interpolates chroma differently than zimg. Measured with libheif, which repeats it:
    /// 1.17 at most, 0.81 for reductions, 2.27 for reductions with coding noise.
    @Test(arguments: kinds)
    func bothLanesGiveOneImage(options: [String]) throws {
        let lanes = try AVIFFiles.lanes(of: Self.source, options)
        for (job, most) in [
            (Job([], as: .png), 1.3), (Job.fit(101, as: .png), 0.9), (Job.fit(101), 2.5),
            (Job([AgreementTests.crop(31, 17, 201, 99)], as: .png), 1.3),
        ] {
            let difference = try lanes.planar(job).difference(from: lanes.general(job))
            #expect(difference <= most, "\(job): \(difference)")
        }
    }

    @Test(arguments: [
        ["--irot", "0"], ["--irot", "1"], ["--irot", "2"], ["--irot", "3"], ["--imir", "0"],
        ["--imir", "1"], ["--irot", "1", "--imir", "1"], ["--irot", "3", "--imir", "0"],
    ])
    func theFileTurnsThePlanes(options: [String]) throws {
        let lanes = try AVIFFiles.lanes(of: Self.source, ["-y", "444"] + options)
        #expect(try layout(lanes).isPlanar)
        for job in [Job([], as: .png), .fit(101, as: .png)] {
            let difference = try lanes.planar(job).difference(from: lanes.general(job))
            #expect(difference <= 0.4, "\(job): \(difference)")
        }
    }

    @Test func aGridIsOneImage() throws {
        let lanes = try AVIFFiles.lanes(
            of: .photograph(384, 256), ["-y", "420", "--grid", "2x2"])
        #expect(try layout(lanes).isPlanar)
        let likeness = try lanes.planar(Job([], as: .png)).psnr(
            against: AVIFFiles.pixels(lanes.bytes))
        #expect(likeness >= 45, "\(likeness)")
    }

    @Test(arguments: [(1, 1), (2, 1), (1, 3), (7, 5), (64, 64)], ["full", "limited"])
    func smallImagesAreOneToo(size: (width: Int, height: Int), range: String) throws {
        let lanes = try AVIFFiles.lanes(
            of: .photograph(size.width, size.height), ["-y", "420", "-r", range])
        #expect(try layout(lanes).isPlanar)
        let difference = try lanes.planar(Job([], as: .png)).difference(
            from: AVIFFiles.pixels(lanes.bytes))
        #expect(difference <= 3, "\(difference)")
    }

    /// Y4M states the chroma location. A ramp of 8 per sample is 2 higher a quarter of a sample on.
    @Test(arguments: [("jpeg", 0), ("mpeg2", 2), ("paldv", 2)])
    func colorsAreMovedToTheMiddle(siting: String, higher: Int) throws {
        let (size, colors) = (PixelSize(width: 48, height: 32), PixelSize(width: 24, height: 16))
        let ramp = (0..<colors.height).flatMap { _ in
            (0..<colors.width).map { UInt8(40 + 8 * $0) }
        }
        let planes =
            [UInt8](repeating: 128, count: 48 * 32) + ramp
            + [UInt8](repeating: 128, count: 24 * 16)
        let lanes = try AVIFFiles.lanes(
            ofPlanes: planes, size, siting: siting, ["--min", "0", "--max", "0"])
        let space = HeapSpace()
        let frame = try #require(lanes.decoded(space: space).frames.first)
        try #require(frame.layout.isPlanar)
        let (plane, bytes) = (frame.layout.planes[1], space.bytes(frame.reference))
        for x in 1..<23 {
            let sample = Int(bytes[plane.offset + 8 * plane.stride + x])
            #expect(abs(sample - 40 - 8 * x - higher) <= 1, "\(siting), \(x): \(sample)")
        }
    }

    /// Images that planes can't represent take the general lane as before.
    @Test(arguments: [
        ["-y", "400"], ["-d", "10"], ["--cicp", "9/16/9"], ["--cicp", "12/13/6"],
        ["--cicp", "1/13/0", "-y", "444"], ["--crop", "0,0,100,80"],
    ])
    func otherImagesGoTheGeneralWay(options: [String]) throws {
        let lanes = try AVIFFiles.lanes(of: Self.source, options)
        let layout = try layout(lanes)
        #expect(layout.planes.map(\.bands) == [.rgb])
        let whole = try lanes.general(Job([], as: .png))
        #expect(whole.size == layout.planes[0].size)
    }

    @Test func anImageWithAlphaKeepsIt() throws {
        let size = PixelSize(width: 40, height: 40)
        let lanes = try AVIFFiles.lanes(
            of: TestImage(
                size, bands: 4, samples: (0..<(40 * 40 * 4)).map { UInt8($0 / 4 % 40) * 6 }),
            ["-y", "420"])
        #expect(try layout(lanes).planes.map(\.bands) == [.rgba])
    }

    /// Truncated anywhere, it fails like the decode to pixels.
    @Test func aDamagedImageEndsAsItDid() throws {
        let bytes = try AVIFFiles.lanes(of: Self.source, ["-y", "420"]).bytes
        for share in [0.3, 0.6, 0.9, 0.99] {
            let lanes = Lanes(bytes: Array(bytes.prefix(Int(Double(bytes.count) * share))))
            let ours = #expect(throws: ImageError.self) { try lanes.decoded() }
            let usual = #expect(throws: ImageError.self) { try lanes.general(Job([])) }
            #expect(ours?.code == usual?.code)
        }
    }

    private func layout(_ lanes: Lanes) throws -> PixelLayout {
        try #require(lanes.decoded().frames.first).layout
    }
}
