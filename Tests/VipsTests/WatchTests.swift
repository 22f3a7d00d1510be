import Synchronization
import Testing
import Vips

@Suite struct WatchTests {
    @Test func theWatcherIsAskedManyTimesAndLetsTheWorkFinish() throws {
        try withVips {
            let calls = Counter()
            // Enough work for the polling thread to be scheduled, however busy the machine is.
            let image = try Pixels.gradient(100, 100).image()
                .enlarged(horizontally: 80, vertically: 80, width: 8_000, height: 8_000)
            image.watch {
                calls.add()
                return false
            }
            #expect(try image.reducedVertically(by: 8).samples().isEmpty == false)
            #expect(calls.value > 5)
        }
    }

    @Test(arguments: [Loader.jpeg, .png])
    func aDecodeThatIsToStopIsKilled(loader: Loader) throws {
        try withVips {
            let bytes = try largeImage().encoded(loader.encoding)
            let error = try bytes.withUnsafeBytes { bytes in
                try firstFailure {
                    let image = try loader.load(bytes)
                    image.watch { true }
                    _ = try image.samples()
                }
            }
            #expect(error?.kind == .killed, "\(String(describing: error))")
        }
    }

    @Test func whatIsDerivedFromAWatchedImageIsKilled() throws {
        try withVips {
            let large = try largeImage()
            let error = try firstFailure {
                let calls = Counter()
                let image = try large.reducedVertically(by: 1.01)
                image.watch { calls.add() > 3 }
                _ = try image.reducedVertically(by: 1.5).reducedHorizontally(by: 1.5)
                    .encoded(.jpeg(quality: 80))
            }
            #expect(error?.kind == .killed, "\(String(describing: error))")
        }
    }

    @Test func theWatcherGoesWithTheImage() throws {
        let token = Token()
        weak let watched: Token? = token
        try withVips {
            let image = try Pixels.gradient(4, 4).image()
            image.watch { [token] in token.answer }
            #expect(try image.samples().count == 48)
        }
        _ = consume token
        #expect(watched == nil)
    }

    @Test func thePixelsLiveAsLongAsTheLastImageMadeFromThem() throws {
        let ends = Counter()
        try withVips {
            var image: VipsImage? = try Pixels(
                30, 30, onEnd: { ends.add() }, { x, _, _ in x }
            ).image().flippedHorizontally()
            #expect(ends.value == 0)
            #expect(try image?.samples().first == 29)
            image = nil
            #expect(ends.value == 1)
        }
    }
}

/// 2000 × 2000 pixels, of which few are computed here.
private func largeImage() throws(VipsError) -> VipsImage {
    try Pixels.gradient(100, 100).image()
        .enlarged(horizontally: 20, vertically: 20, width: 2000, height: 2000).copiedToMemory()
}

/// The error of the first of at most a hundred runs that fails, nil if none does.
///
/// libvips polls on a separate thread. On a busy machine, everything may be computed before that
/// thread is scheduled, so that it never polls.
private func firstFailure(of run: () throws -> Void) throws -> VipsError? {
    for _ in 0..<100 {
        do { try run() } catch let error as VipsError { return error }
    }
    return nil
}

private final class Token: Sendable {
    let answer = false
}

final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Returns the number of calls before this one.
    @discardableResult func add() -> Int {
        count.add(1, ordering: .relaxed).oldValue
    }
}
