import Model
import Testing

/// The metadata that a decoder keeps for the output options.
@Suite struct KeptPartsTests {
    private func options(_ format: ImageFormat?, icc: Bool = false) -> OutputOptions {
        var output = OutputOptions(format: format)
        output.keepsProfile = icc
        return output
    }

    private static let holders: [(ImageFormat?, KeptParts)] = [
        (nil, [.profile, .grayProfile]), (.jpeg, [.profile, .grayProfile]),
        (.png, [.profile, .grayProfile]), (.tiff, [.profile, .grayProfile]),
        (.jxl, [.profile, .grayProfile]), (.webp, .profile), (.avif, .profile), (.gif, []),
    ]

    @Test(arguments: holders)
    func aProfileIsKeptWhereTheFormatHoldsIt(format: ImageFormat?, parts: KeptParts) {
        #expect(KeptParts(options(format)) == [])
        #expect(KeptParts(options(format, icc: true)) == parts)
    }

    /// The result may have any of the accepted formats.
    @Test(
        arguments: [
            ([.webp, .avif], .profile), ([.jxl], [.profile, .grayProfile]),
            ([.jxl, .webp], .profile),
        ] as [([ImageFormat], KeptParts)])
    func aProfileOfGraysIsKeptWhereEachFormatHoldsIt(accepted: [ImageFormat], parts: KeptParts) {
        var output = options(nil, icc: true)
        output.accepted = accepted
        #expect(KeptParts(output) == parts)
    }

    @Test func metadataIsKeptAsItIsAskedFor() {
        for format in [nil] + ImageFormat.encodable {
            var output = options(format)
            let holds = format != .gif && format != .pam
            output.metadata = .copyright
            #expect(KeptParts(output) == (holds ? .rights : []))
            output.metadata = .all
            #expect(KeptParts(output) == (holds ? .metadata : []))
            output.metadata = nil
            #expect(output == options(format) && KeptParts(output) == [])
            // Files that contain metadata aren't delivered unchanged.
            output.metadata = .nothing
            #expect(!output.isDefault && output != options(format) && KeptParts(output) == [])
        }
    }

    private func request(
        _ format: ImageFormat?, _ steps: [TransformStep] = [],
        _ change: (inout OutputOptions) -> Void
    ) -> ImageRequest {
        var request = ImageRequest(url: "https://h/a.jpg")
        request.steps = steps
        request.output.format = format
        change(&request.output)
        return request
    }

    /// More than 8 bits are decoded if the output format has them and every step supports them.
    @Test func depthIsKeptAsFarAsStepsTakeIt() {
        let turn = TransformStep.rotate(Rotation(degreesClockwise: 90))
        let box = PixelSize(width: 9, height: 9)
        let takes: [TransformStep] = [
            .resize(box, .letterbox), .crop(PixelRect(x: 0, y: 0, size: box)), turn,
            .flip(horizontal: true, vertical: false), .scaleDown(bytes: 400),
            .cropTo(RelativeSize(width: .percent(50), height: .percent(50)), .center),
            .pad(box, .center, .clear), .extend(Margins(), .mirror),
        ]
        let refuses: [TransformStep] = [
            .rotate(Rotation(degreesClockwise: 30)), .blur(radius: 2), .grayscale,
            .cropTo(RelativeSize(width: .percent(50), height: .percent(50)), .attention),
            .pad(box, .center, .white), .extend(Margins(), .color(.white)), .trim(tolerance: 1),
        ]
        #expect(KeptParts(request(.png) { $0.depth = 16 }) == .depth)
        #expect(KeptParts(request(.png) { $0.depth = 8 }) == [])
        #expect(KeptParts(request(.png, takes) { $0.depth = 16 }) == .depth)
        for step in refuses {
            #expect(KeptParts(request(.png, takes + [step]) { $0.depth = 16 }) == [], "\(step)")
        }
    }

    @Test(arguments: [nil] + ImageFormat.encodable)
    func aHighRangeIsKeptWhereTheFormatSaysIt(format: ImageFormat?) {
        let holds: [ImageFormat?] = [.png, .avif]
        #expect(
            KeptParts(request(format) { $0.keepsHDR = true })
                == (holds.contains(format) ? .hdr : []))
        #expect(KeptParts(request(format, [.grayscale]) { $0.keepsHDR = true }) == [])
        let narrow = request(format) { ($0.keepsHDR, $0.depth) = (true, 8) }
        #expect(KeptParts(narrow) == [])
    }

    /// A decode that keeps metadata isn't shared with one that doesn't.
    @Test func keysOfDecodesSayWhatIsKept() {
        func key(_ change: (inout ImageRequest) -> Void) -> DecodeKey {
            var request = ImageRequest(url: "https://h/a.jpg")
            request.output = OutputOptions(format: .jpeg)
            change(&request)
            return DecodeKey(request)
        }
        let plain = key { _ in }
        let keys = [
            plain, key { $0.output.keepsProfile = true }, key { $0.output.metadata = .copyright },
            key { $0.output.metadata = .all },
        ]
        #expect(Set(keys).count == keys.count)
        let gif = key {
            $0.output.format = .gif
            $0.output.keepsProfile = true
        }
        #expect(gif == plain)
        let header = key {
            $0.infoOnly = true
            $0.output.keepsProfile = true
        }
        #expect(header.keeps == [])
    }

    @Test func theSamplesOfAProfileAreInItsHeader() {
        var profile = [UInt8](repeating: 0, count: 132)
        profile[3] = 132
        profile.replaceSubrange(12..<20, with: "mntrRGB ".utf8)
        profile.replaceSubrange(36..<40, with: "acsp".utf8)
        #expect(ProfileSpace(profile) == .rgb)
        func changed(_ place: Int, _ text: String) -> ProfileSpace? {
            var other = profile
            other.replaceSubrange(place..<(place + text.utf8.count), with: text.utf8)
            return ProfileSpace(other)
        }
        #expect(changed(16, "GRAY") == .gray)
        #expect(changed(16, "CMYK") == .cmyk)
        #expect(changed(16, "Lab ") == nil)
        #expect(changed(12, "link") == nil)
        #expect(changed(36, "acsq") == nil)
        #expect(changed(2, "\u{1}") == nil, "it is longer than it is")
        #expect(ProfileSpace(Array(profile.prefix(128))) == nil)
        #expect(ProfileSpace([]) == nil)
    }
}
