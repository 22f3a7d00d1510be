import Model
import Testing

/// Which sources may be delivered as unmodified files.
@Suite struct PassingTests {
    private func passing(_ change: (inout ImageRequest) -> Void) -> PassThrough? {
        var request = ImageRequest(url: "http://h/a.jpg")
        change(&request)
        return PassThrough(request)
    }

    private func file(
        _ format: ImageFormat, _ width: Int = 64, _ height: Int = 48, frames: Int = 1
    ) -> ImageInfo {
        ImageInfo(format: format, size: PixelSize(width: width, height: height), pages: frames)
    }

    /// Requesting only the first frame affects animations only.
    @Test func theFirstFrameOfAnAnimationIsNoFile() throws {
        let produced = try #require(passing { $0.options = .decodeFirstFrameOnly })
        #expect(produced == PassThrough(isUnchanged: true, metadata: .all))
        for format in [ImageFormat.jpeg, .heic, .bmp] {
            #expect(produced.applies(to: file(format), for: .full, keepsFrames: false))
        }
        #expect(
            produced.applies(to: file(.tiff, frames: 3), for: .full, keepsFrames: false), "pages")
        #expect(!produced.applies(to: file(.gif, frames: 3), for: .full, keepsFrames: false))
        #expect(produced.appliesToDrawings(for: .full))
    }

    /// With a byte limit or a box, files that need no reduction pass through.
    @Test func whatIsNotReducedPasses() throws {
        var request = ImageRequest(url: "http://h/a.jpg")
        request.options = .scaleDownLargeImages
        request.context.scaleDownLimit = 64 * 48 * 4
        request.applyScaleDownLimit()
        let limited = try #require(PassThrough(request))
        let need = DecodeNeed(request)
        #expect(limited.applies(to: file(.jpeg), for: need, keepsFrames: false))
        #expect(!limited.applies(to: file(.jpeg, 65), for: need, keepsFrames: false))
        #expect(limited.applies(to: file(.gif, frames: 9), for: need, keepsFrames: true))
        #expect(limited.applies(to: file(.svg), for: need, keepsFrames: false))
        #expect(limited.appliesToDrawings(for: need), "it has no pixels")
        #expect(limited.applies(to: file(.pdf, 5_000, 5_000), for: need, keepsFrames: false))

        let box = PixelSize(width: 100, height: 50)
        let thumbnail = try #require(passing { $0.thumbnail = Thumbnail(box: box) })
        #expect(thumbnail.applies(to: file(.jpeg), for: .cover(box, .fit), keepsFrames: false))
        let high = file(.jpeg, 64, 51)
        #expect(!thumbnail.applies(to: high, for: .cover(box, .fit), keepsFrames: false))
        // A drawing would be rendered at the size of the box, and distorted if the mode changes its
        // shape.
        #expect(!thumbnail.applies(to: file(.svg), for: .cover(box, .fit), keepsFrames: false))
        #expect(!thumbnail.appliesToDrawings(for: .cover(box, .fit)))
        #expect(!thumbnail.applies(to: file(.jpeg), for: .cover(box, .stretch), keepsFrames: false))

        // With more than one reduction, other steps, or an output, nothing passes through.
        let changes: [(inout ImageRequest) -> Void] = [
            { $0.steps = [.scaleDown(bytes: 400)] }, { $0.steps = [.grayscale] },
            { $0.output.format = .webp }, { $0.output.accepted = [.webp] },
        ]
        for change in changes {
            let produced = passing {
                $0.thumbnail = Thumbnail(box: box)
                change(&$0)
            }
            #expect(produced == nil)
        }
    }

    @Test func anUnchangedImagePassesWithoutItsMetadata() throws {
        #expect(passing { _ in } == nil, "it is delivered as it came")
        for choice in [MetadataChoice.nothing, .copyright] {
            let produced = try #require(passing { $0.output.metadata = choice })
            #expect(produced == PassThrough(isUnchanged: true, metadata: choice))
            for format in [ImageFormat.jpeg, .png, .webp, .gif, .svg] {
                #expect(produced.applies(to: file(format), for: .full, keepsFrames: false))
                let moving = file(format, frames: 3)
                #expect(!produced.applies(to: moving, for: .full, keepsFrames: false))
                #expect(produced.applies(to: moving, for: .full, keepsFrames: true))
            }
            #expect(!produced.applies(to: file(.heic), for: .full, keepsFrames: false))
        }
        // With all metadata kept, the result must be stored upright, so it is encoded.
        #expect(passing { $0.output.metadata = .all } == nil)
    }

    @Test func whateverElseIsAskedIsDoneToPixels() {
        let changes: [(inout ImageRequest) -> Void] = [
            { $0.steps = [.grayscale] }, { $0.output.quality = 80 }, { $0.output.format = .jpeg },
            { $0.output.accepted = [.webp] }, { $0.frame = 1 }, { $0.infoOnly = true },
            { $0.output.isProgressive = true }, { $0.output.keepsProfile = true },
        ]
        for change in changes {
            let produced = passing {
                $0.output.metadata = .nothing
                change(&$0)
            }
            #expect(produced == nil)
        }
    }

    @Test func namedFormatsPassWhateverIsAsked() throws {
        let produced = try #require(
            passing {
                $0.output.passed = [.svg, .gif]
                $0.output.metadata = .copyright
                $0.output.format = .png
                $0.steps = [.grayscale]
            })
        #expect(
            produced
                == PassThrough(formats: [.gif, .svg], isUnchanged: false, metadata: .copyright))
        #expect(produced.applies(to: file(.gif, frames: 3), for: .full, keepsFrames: false))
        #expect(produced.appliesToDrawings(for: .header))
        #expect(!produced.applies(to: file(.jpeg), for: .full, keepsFrames: true))
        let all = try #require(passing { $0.output.passed = [.heic] })
        #expect(all.metadata == .all && all.isUnchanged)
        #expect(all.applies(to: file(.heic), for: .full, keepsFrames: false))
        // A selected frame can't be delivered as a file.
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

    /// Each result's key identifies it as one.
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
