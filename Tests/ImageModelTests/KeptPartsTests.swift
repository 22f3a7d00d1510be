import ImageModel
import Testing

/// What a decoder keeps for results of some options.
@Suite struct KeptPartsTests {
    private func options(_ format: ImageFormat?, icc: Bool = false) -> OutputOptions {
        var output = OutputOptions(format: format)
        output.keepsProfile = icc
        return output
    }

    private static let holders: [(ImageFormat?, KeptParts)] = [
        (nil, [.profile, .greyProfile]), (.jpeg, [.profile, .greyProfile]),
        (.png, [.profile, .greyProfile]), (.tiff, [.profile, .greyProfile]),
        (.jxl, [.profile, .greyProfile]), (.webp, .profile), (.avif, .profile), (.gif, []),
    ]

    @Test(arguments: holders)
    func aProfileIsKeptWhereTheFormatHoldsIt(format: ImageFormat?, parts: KeptParts) {
        #expect(KeptParts(options(format)) == [])
        #expect(KeptParts(options(format, icc: true)) == parts)
    }

    /// A result may be of any that is accepted.
    @Test(
        arguments: [
            ([.webp, .avif], .profile), ([.jxl], [.profile, .greyProfile]),
            ([.jxl, .webp], .profile),
        ] as [([ImageFormat], KeptParts)])
    func aProfileOfGreysIsKeptWhereEachFormatHoldsIt(accepted: [ImageFormat], parts: KeptParts) {
        var output = options(nil, icc: true)
        output.accepted = accepted
        #expect(KeptParts(output) == parts)
    }

    @Test func metadataIsKeptAsItIsAskedFor() {
        for format in [nil] + ImageFormat.encodable {
            var output = options(format)
            let holds = format != .gif
            output.metadata = .copyright
            #expect(KeptParts(output) == (holds ? .rights : []))
            output.metadata = .all
            #expect(KeptParts(output) == (holds ? .metadata : []))
            output.metadata = nil
            #expect(output == options(format) && KeptParts(output) == [])
            // Bytes that have some are not delivered as they came.
            output.metadata = .nothing
            #expect(!output.isDefault && output != options(format) && KeptParts(output) == [])
        }
    }

    /// A decode that keeps something is not shared with one that does not.
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
        #expect(changed(16, "GRAY") == .grey)
        #expect(changed(16, "CMYK") == nil)
        #expect(changed(12, "link") == nil)
        #expect(changed(36, "acsq") == nil)
        #expect(changed(2, "\u{1}") == nil, "it is longer than it is")
        #expect(ProfileSpace(Array(profile.prefix(128))) == nil)
        #expect(ProfileSpace([]) == nil)
    }
}
