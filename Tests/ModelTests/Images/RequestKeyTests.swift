import Model
import Testing

/// Which requests share work, and which must not.
@Suite struct RequestKeyTests {
    private func request(
        _ url: String = "https://h/a.png", _ change: (inout ImageRequest) -> Void = { _ in }
    ) -> ImageRequest {
        var request = ImageRequest(url: url)
        change(&request)
        return request
    }

    private let box = PixelSize(width: 100, height: 100)

    @Test func wishesAreInNoKey() {
        let plain = ResultKey(request())
        let changes: [(inout ImageRequest) -> Void] = [
            { $0.options = [.highPriority, .fromLoaderOnly, .retryFailed, .waitStoreCache] },
            { $0.options = [.lowPriority, .fromCacheOnly, .preloadAllFrames] },
            { $0.queryCacheTypes = .none },
            { $0.storeCacheTypes = .disk },
            { $0.originalQueryCacheTypes = .all },
            { $0.originalStoreCacheTypes = .none },
            { $0.timeoutMilliseconds = 1 },
        ]
        for change in changes {
            #expect(ResultKey(request("https://h/a.png", change)) == plain)
            #expect(ResultKey(request("https://h/a.png", change)).hashValue == plain.hashValue)
        }
    }

    @Test func whatIsFetchedDiffersByURLAndHeaders() {
        let plain = SourceKey(request())
        let others: [ImageRequest] = [
            request("https://h/a.png?"), request("http://h/a.png"), request("https://u@h/a.png"),
            request("https://h/A.png"), request("https://h/%61.png"),
            request { $0.headers = [HTTPHeader(name: "Accept", value: "*/*")] },
        ]
        #expect(Set(others.map { SourceKey($0) } + [plain]).count == others.count + 1)
    }

    @Test func twoIdentitiesNeverShareATransfer() {
        let names = ["Authorization", "Cookie", "X-Api-Key", "X-Auth-Token", "X-Whatever", ""]
        for name in names {
            let first = request { $0.headers = [HTTPHeader(name: name, value: "a")] }
            let second = request { $0.headers = [HTTPHeader(name: name, value: "b")] }
            #expect(SourceKey(first) != SourceKey(second))
            #expect(first.headers[0].isCredential)
        }
        let harmless = ["Accept", "accept-language", "USER-AGENT", "traceparent"]
        for name in harmless { #expect(!HTTPHeader(name: name, value: "a").isCredential) }
        #expect(SourceKey(request("https://a:1@h/p")) != SourceKey(request("https://a:2@h/p")))
    }

    @Test func orderAndCaseOfHeaderNamesDoNotMatter() {
        let first = request {
            $0.headers = [
                HTTPHeader(name: "Accept", value: "*/*"), HTTPHeader(name: "X-A", value: "1"),
            ]
        }
        let second = request {
            $0.headers = [
                HTTPHeader(name: "x-a", value: "1"), HTTPHeader(name: "ACCEPT", value: "*/*"),
            ]
        }
        #expect(SourceKey(first) == SourceKey(second))
        let third = request { $0.headers = [HTTPHeader(name: "x-a", value: "1")] }
        #expect(SourceKey(first) != SourceKey(third))
    }

    @Test func spellingsThatOnlyLookAlikeAreDifferent() {
        let pairs = [
            ("https://h/\u{E9}.png", "https://h/e\u{301}.png"),
            ("https://h/K.png", "https://h/\u{212A}.png"),
        ]
        for (first, second) in pairs {
            #expect(ImageRequest(url: first).url != ImageRequest(url: second).url)
            #expect(SourceKey(request(first)) != SourceKey(request(second)))
        }
        #expect(BaseKey.text("\u{E9}") != .text("e\u{301}"))
        #expect(BaseKey.text("a") == .text("a") && BaseKey.text("a") != .filter("a"))
        let token = HTTPHeader(name: "Authorization", value: "K")
        #expect(token != HTTPHeader(name: "Authorization", value: "\u{212A}"))
    }

    @Test func tenSizesOfOneURLAreOneTransfer() {
        let requests = (1...10).map { size in
            request { $0.steps = [.resize(PixelSize(width: size, height: size), .fit)] }
        }
        #expect(Set(requests.map { SourceKey($0) }).count == 1)
        #expect(Set(requests.map { DecodeKey($0) }).count == 10)
        #expect(Set(requests.map { ResultKey($0) }).count == 10)
    }

    @Test func outputsOfOneSizeShareADecode() {
        let outputs = [
            OutputOptions(format: .jpeg), OutputOptions(format: .jpeg, quality: 80),
            OutputOptions(format: .png), OutputOptions(format: .png, compression: 1),
            OutputOptions(format: .webp, lossless: true),
        ]
        let requests = outputs.map { output in
            request {
                $0.steps = [.resize(box, .fit)]
                $0.output = output
            }
        }
        #expect(Set(requests.map { DecodeKey($0) }).count == 1)
        #expect(Set(requests.map { ResultKey($0) }).count == outputs.count)
    }

    @Test func whoDecodesIsNobodyElsesWork() {
        let source = SourceKey(request())
        let keys = [[], ["decode"], ["qoi", "decode"], ["decode", "qoi"]].map {
            ResultKey(request(), of: source, overlays: [], coders: $0)
        }
        #expect(Set(keys).count == 4 && Set(keys.map(\.decode.source)).count == 1)
    }

    @Test func stepsAndTheirOrderMakeTheResult() {
        let flip = TransformStep.flip(horizontal: true, vertical: false)
        let turn = TransformStep.rotate(Rotation(degreesClockwise: 90))
        let steps: [[TransformStep]] = [
            [flip, turn], [turn, flip], [flip], [turn], [.resize(box, .fill)],
            [.resize(box, .letterbox)], [.resize(box, .stretch)],
            [.crop(PixelRect(x: 0, y: 0, size: box))], [.crop(PixelRect(x: 1, y: 0, size: box))],
        ]
        let keys = steps.map { steps in ResultKey(request { $0.steps = steps }) }
        #expect(Set(keys).count == steps.count)
    }

    @Test func factsAndBytesAreDifferentResults() {
        #expect(ResultKey(request()) != ResultKey(request { $0.infoOnly = true }))
        #expect(DecodeKey(request()) == DecodeKey(request { $0.infoOnly = true }))
    }

    @Test func highPriorityWinsOverLow() {
        #expect(request().priority == .normal)
        #expect(request { $0.options = .lowPriority }.priority == .low)
        #expect(request { $0.options = [.lowPriority, .highPriority] }.priority == .high)
        #expect(Priority.low < .normal && Priority.normal < .high)
    }

    @Test func onlyARequestForNothingElseWantsTheOriginal() {
        #expect(request().wantsOriginal)
        #expect(!request { $0.thumbnail = Thumbnail(box: box) }.wantsOriginal)
        #expect(!request { $0.steps = [.resize(box, .fit)] }.wantsOriginal)
        #expect(!request { $0.output.quality = 80 }.wantsOriginal)
        #expect(!request { $0.options = .decodeFirstFrameOnly }.wantsOriginal)
        let properties = request { ($0.options, $0.infoOnly) = (.decodeFirstFrameOnly, true) }
        #expect(properties.wantsOriginal)
        let both = request {
            $0.thumbnail = Thumbnail(box: box, preservesAspectRatio: false)
            $0.steps = [.flip(horizontal: true, vertical: false)]
        }
        #expect(
            both.allSteps == [.resize(box, .stretch), .flip(horizontal: true, vertical: false)])
    }
}
