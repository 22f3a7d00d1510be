import CommandLineInterface
import Model
import Testing

@testable import imagebus_cli

/// The advice in command line errors.
@Suite struct MistakeTests {
    private func options(_ arguments: [String]) throws(UsageError) -> GetOptions {
        try GetOptions.read(["http://a/b.jpg"] + arguments)
    }

    private func complaint(_ arguments: [String]) -> String {
        GetOptions.complaint(["http://a/b.jpg"] + arguments) ?? ""
    }

    @Test(arguments: [
        (["--resise", "5x5"], "'--resize'"), (["--formt", "png"], "'--format'"),
        (["--resize", "5x5", "--mode", "strech"], "'stretch'"),
        (["--delivery", "maped"], "'mapped'"),
        (["--format", "jpge"], "'jpeg'"), (["--metadata", "copyrigth"], "'copyright'"),
        (["--accept", "avfi"], "'avif'"), (["--option", "refresh-cache"], "'refresh-cached'"),
        (["--context", "image-encode-option=a"], "'image-encode-options'"),
    ])
    func theWordThatWasMeantIsNamed(_ arguments: [String], _ meant: String) {
        let message = complaint(arguments)
        #expect(message.hasSuffix(". Did you mean \(meant)?"), "\(message)")
    }

    @Test(arguments: [["--metadata", "everything"], ["--format", "xyzzy"]])
    func noWordIsNamedThatIsNotNear(_ arguments: [String]) {
        let message = complaint(arguments)
        #expect(!message.isEmpty && !message.contains("Did you mean"), "\(message)")
    }

    @Test(arguments: [
        ("100K", 102_400), ("1m", 1 << 20), ("1G", 1 << 30), ("50000", 50_000),
    ])
    func aLimitOfBytesHasUnits(_ text: String, _ bytes: Int) throws {
        #expect(try options(["--max-bytes", text]).request.output.maxBytes == bytes)
        let words = ["--context", "image-encode-options=max-file-size=" + text]
        #expect(try options(words).request.context.encodeOptions?.maxBytes == bytes)
    }

    @Test(arguments: ["2G", "K", "1.5M", "0", "-1K", "9999999999999G", "10 K"])
    func otherTextsAreNoLimitOfBytes(_ text: String) {
        #expect(
            complaint(["--max-bytes", text]).hasPrefix(
                "--max-bytes: '\(text)' is not an integer from 1 to 1073741824, such as 50000"))
    }

    @Test func aTrimWithoutAValueSaysHowItIsWritten() throws {
        #expect(complaint(["--trim"]) == "--trim requires a value; '--trim=' uses the default")
        #expect(
            complaint(["--trim", "--lossless"])
                == "--trim requires a value, but '--lossless' is an option; '--trim=' uses the "
                + "default")
        #expect(try options(["--trim="]).request.steps == [.trim(tolerance: 10, nil)])
        // There is no default box for a resize.
        #expect(complaint(["--resize"]) == "--resize requires a value")
    }

    @Test(arguments: [
        (
            "multipy,http://h/a.png",
            "'multipy' is neither an overlay word nor a URL. Did you mean "
                + "'multiply'? Expected"
        ),
        ("southeast,grat,http://h/a.png", "'grat' is neither an overlay word nor a URL. Expected"),
        ("repeat,repeat,http://h/a.png", "'repeat' repeats a setting of an earlier word. "),
        ("screen,0.5", "the URL is missing. Expected"),
        ("ftp://h/a.png", "'ftp://h/a.png' is not [WORDS,]URL"),
    ])
    func anOverlayNamesTheBadWord(_ text: String, _ expected: String) {
        let complaint = complaint(["--overlay", text])
        #expect(complaint.hasPrefix("--overlay: " + expected), "\(complaint)")
    }
}

/// The notes that `get` prints about an image.
@Suite struct ImageNoteTests {
    private func notes(
        _ format: ImageFormat, _ change: (inout ImageRequest) -> Void
    ) -> [String] {
        var request = ImageRequest(url: "http://a/b")
        change(&request)
        let size = PixelSize(width: 4, height: 4)
        return ImageNotes.of(ImageInfo(format: format, size: size), for: request)
    }

    private var words: EncodeOptions {
        var words = EncodeOptions()
        words.quality = 10
        return words
    }

    @Test func wordsForAnEncoderThatEncodesNothingAreNamed() {
        let messages = notes(.jpeg) { $0.context.encodeOptions = words }
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("image-encode-options has no effect") == true)
        #expect(
            notes(.jpeg) { request in
                request.context.encodeOptions = words
                request.output.format = .jpeg
            } == [])
        // Only the operator knows what is in it.
        #expect(
            notes(.jpeg) { request in
                request.context.encodeOptions = words
                request.context.preset = "a"
            } == [])
    }

    @Test func settingsThatTheFormatOfTheResultDoesNotHaveAreNamed() {
        func set(_ request: inout ImageRequest) {
            request.output.isProgressive = true
            request.output.effort = 3
        }
        #expect(
            notes(.webp, set)
                == ["progressive has no effect on webp, only on jpeg, png, gif"])
        #expect(notes(.gif, set) == [])
    }
}
