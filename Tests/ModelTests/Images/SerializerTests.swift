import Model
import Testing

struct SerializerTests {
    @Test func aTextSaysWhatIsWritten() {
        #expect(Serializer("as-is") == .asIs)
        #expect(Serializer("transcode:webp") == .transcode(.webp, quality: nil))
        #expect(Serializer("transcode:webp:70") == .transcode(.webp, quality: 70))
        #expect(Serializer("transcode:jpg:0") == .transcode(.jpeg, quality: 0))
        #expect(Serializer("small") == .named("small"))
    }

    @Test(arguments: [
        "transcode", "transcode:", "transcode:bitmap", "transcode:webp:", "transcode:webp:101",
        "transcode:webp:-1", "transcode:webp:+7", "transcode:webp:7:7", "transcode:webp:seven",
    ])
    func whatBeginsLikeATranscodeIsOne(text: String) {
        #expect(Serializer(text) == nil)
    }

    @Test func onlyATranscodeHasAnOutput() {
        #expect(Serializer.asIs.output == nil)
        #expect(Serializer.named("x").output == nil)
        #expect(
            Serializer.transcode(.webp, quality: 70).output
                == OutputOptions(format: .webp, quality: 70))
    }
}
