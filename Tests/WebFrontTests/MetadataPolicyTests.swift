import Model
import Testing
import WebGrammar

@testable import WebFront

/// The metadata requested with an image, and the sources requested as files.
@Suite struct MetadataPolicyTests {
    private func plan(
        _ target: String, _ fields: [String: String] = [:],
        _ change: (inout WebFrontSettings) throws -> Void = { _ in }
    ) throws -> RequestPlan {
        let verdict = try WebFrontSettings.unsigned(change).verdict(on: target, fields)
        return try #require(verdict.plan, "\(verdict)")
    }

    private static let source = "plain/http://h/a.jpg"
    private static let browser = ["Accept": "image/avif,image/webp,*/*;q=0.8"]

    @Test func everyImageIsAskedForWithItsRights() throws {
        for options in ["", "w:0/", "w:9/", "f:png/"] {
            for fields in [[:], Self.browser] {
                let image = try plan("/_/\(options)\(Self.source)", fields).request.image
                #expect(image.output.metadata == .copyright, "\(options)")
                #expect(!image.wantsOriginal)
            }
        }
    }

    @Test func theListenerAndThePathSayWhatIsKept() throws {
        for (policy, options, expected) in [
            (MetadataChoice.nothing, "", MetadataChoice.nothing), (.nothing, "w:9/sm:0/", .all),
            (.nothing, "kcr:1/", .copyright), (.copyright, "sm:1/", .nothing),
            (.all, "w:9/", .all), (.all, "kcr:1/", .copyright),
        ] {
            let produced = try plan("/_/\(options)\(Self.source)") { $0.metadata = policy }
            #expect(produced.request.image.output.metadata == expected, "\(options)")
        }
    }

    @Test func theListenerAndThePathSayWhatBecomesOfDamagedImages() throws {
        #expect(try plan("/_/w:9/\(Self.source)").request.image.context.damaged == .show)
        for usual in DamagedImages.allCases {
            for choice in DamagedImages.allCases {
                let produced = try plan("/_/dmg:\(choice.name)/\(Self.source)") {
                    $0.damaged = usual
                }
                #expect(produced.request.image.context.damaged == choice)
            }
            let produced = try plan("/_/w:9/\(Self.source)") { $0.damaged = usual }
            #expect(produced.request.image.context.damaged == usual)
        }
    }

    /// An unchanged image with all of its metadata is its source; in another format the metadata is
    /// kept as well.
    @Test func anUnchangedImageThatKeepsAllIsItsSource() throws {
        let produced = try plan("/_/\(Self.source)") { $0.metadata = .all }
        #expect(produced.request.image.output.metadata == nil)
        #expect(produced.asking(for: .png).request.image.output.metadata == .all)
        let stated = try plan("/_/sm:0/\(Self.source)")
        #expect(stated.request.image.output.metadata == nil)
    }

    @Test func rawAndFactsAreOfTheSource() throws {
        let raw = try plan("/_/raw:1/\(Self.source)")
        #expect(raw.request.image.wantsOriginal)
        let properties = try plan("/info/_/\(Self.source)")
        #expect(properties.request.image.output.isDefault)
    }

    // MARK: - Files

    private func passed(
        _ options: String, _ fields: [String: String] = [:],
        _ change: (inout WebFrontSettings) throws -> Void = { _ in }
    ) throws -> [ImageFormat] {
        try plan("/_/\(options)\(Self.source)", fields, change).request.image.output.passed
    }

    @Test func drawingsPassWhereNoFormatIsNamed() throws {
        for fields in [[:], Self.browser] {
            #expect(try passed("", fields) == [.svg])
            #expect(try passed("w:9/", fields) == [])
            #expect(try passed("w:9/", fields) { $0.passesDrawings = true } == [.svg])
            #expect(try passed("f:png/", fields) { $0.passesDrawings = true } == [])
        }
    }

    @Test func skippedFormatsPassUnlessAnotherOneIsNamed() throws {
        let skips = { (settings: inout WebFrontSettings) in settings.skippedFormats = [.gif] }
        #expect(try passed("w:9/", Self.browser, skips) == [.gif])
        #expect(try passed("w:9/skp:png/", [:], skips) == [.png, .gif])
        #expect(try passed("w:9/f:gif/", [:], skips) == [.gif])
        #expect(try passed("w:9/f:png/", [:], skips) == [])
        // A client that doesn't accept the format gets another one.
        let produced = try plan("/_/w:9/\(Self.source)", [:], skips)
        #expect(produced.asking(for: .png).request.image.output.passed == [])
    }
}
