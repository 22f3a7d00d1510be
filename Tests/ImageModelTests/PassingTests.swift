import ImageModel
import Testing

/// Which sources a request takes as files.
@Suite struct PassingTests {
    private func passing(_ change: (inout ImageRequest) -> Void) -> Passing? {
        var request = ImageRequest(url: "http://h/a.jpg")
        change(&request)
        return Passing(request)
    }

    @Test func anUnchangedImagePassesWithoutItsMetadata() throws {
        #expect(passing { _ in } == nil, "it is delivered as it came")
        for choice in [MetadataChoice.nothing, .copyright] {
            let made = try #require(passing { $0.output.metadata = choice })
            #expect(made == Passing(isUnchanged: true, metadata: choice))
            for format in [ImageFormat.jpeg, .png, .webp, .gif, .svg] {
                #expect(made.passes(format, isAnimation: false, keepsFrames: false))
                #expect(!made.passes(format, isAnimation: true, keepsFrames: false))
                #expect(made.passes(format, isAnimation: true, keepsFrames: true))
            }
            #expect(!made.passes(.heic, isAnimation: false, keepsFrames: false))
        }
        // What keeps all is upright, so that it is encoded.
        #expect(passing { $0.output.metadata = .all } == nil)
    }

    @Test func whateverElseIsAskedIsDoneToPixels() {
        let changes: [(inout ImageRequest) -> Void] = [
            { $0.steps = [.grayscale] }, { $0.output.quality = 80 }, { $0.output.format = .jpeg },
            { $0.output.accepted = [.webp] }, { $0.frame = 1 }, { $0.infoOnly = true },
            { $0.output.isProgressive = true }, { $0.output.keepsProfile = true },
        ]
        for change in changes {
            let made = passing {
                $0.output.metadata = .nothing
                change(&$0)
            }
            #expect(made == nil)
        }
    }

    @Test func namedFormatsPassWhateverIsAsked() throws {
        let made = try #require(
            passing {
                $0.output.passed = [.svg, .gif]
                $0.output.metadata = .copyright
                $0.output.format = .png
                $0.steps = [.grayscale]
            })
        #expect(made == Passing(formats: [.gif, .svg], isUnchanged: false, metadata: .copyright))
        #expect(made.passes(.gif, isAnimation: true, keepsFrames: false))
        #expect(made.passesDrawings)
        #expect(!made.passes(.jpeg, isAnimation: false, keepsFrames: true))
        let all = try #require(passing { $0.output.passed = [.heic] })
        #expect(all.metadata == .all && all.isUnchanged)
        #expect(all.passes(.heic, isAnimation: false, keepsFrames: false))
        // A frame that is named is no file.
        #expect(passing { ($0.output.passed, $0.frame) = ([.gif], 2) } == nil)
    }

    @Test func itIsInTheKeys() throws {
        var request = ImageRequest(url: "http://h/a.jpg")
        request.output.metadata = .copyright
        request.output.passed = [.svg, .jpeg]
        let url = try SourceURL(request.url)
        #expect(
            CacheKey.result(request, url: url, terms: LoadTerms())
                == "http://h/a-Imagebus(auto,metadata=copyright,pass=jpeg,svg).jpg")
        var other = request
        other.output.passed = [.svg]
        #expect(DecodeKey(request) != DecodeKey(other))
        #expect(ResultKey(request) != ResultKey(other))
    }

    /// Each result has a key by which it is known as one.
    @Test func keysOfResultsHaveParentheses() throws {
        let url = try SourceURL("http://h/a.jpg")
        #expect(!CacheKey.mayBeDerived("http://h/a.jpg"))
        let changes: [(inout ImageRequest) -> Void] = [
            { $0.steps = [.grayscale] }, { $0.steps = [.flip(horizontal: true, vertical: false)] },
            { $0.steps = [.blur(radius: 3)] },
            { $0.steps = [.resize(PixelSize(width: 1, height: 2), .fit)] },
            { $0.output.quality = 3 }, { $0.output.format = .png }, { $0.frame = 0 },
            { $0.thumbnail = Thumbnail(box: PixelSize(width: 3, height: 4)) },
            { $0.output.metadata = .nothing },
        ]
        for change in changes {
            var request = ImageRequest(url: url.withoutUserInfo)
            change(&request)
            let key = CacheKey.result(request, url: url, terms: LoadTerms())
            #expect(CacheKey.mayBeDerived(key), "\(key)")
        }
    }
}
