import Model
import Testing

@testable import Imagebus

/// One or two responses of one load.
@Suite struct RefreshedLoadTests {
    private let task: LoadTask

    init() throws {
        task = LoadTask(token: token(1), commands: try CommandQueue(commandsMax: 8))
    }

    private func response(_ byte: UInt8, isRefreshed: Bool = false) -> ImageResponse {
        var response = ImageResponse.image("k", .memory, ImageBytes([byte]))
        response.isRefreshed = isRefreshed
        return response
    }

    private func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await response in task.responses { bytes += response.bytes?.array ?? [] }
        return bytes
    }

    @Test func theCachedImageComesBeforeTheEnd() async throws {
        var responses = task.responses.makeAsyncIterator()
        task.receivedCached(response(1))
        #expect(try await responses.next(isolation: nil)?.bytes?.array == [1])
        #expect(!task.hasEnded)
        task.finish(.success(response(2, isRefreshed: true)))
        #expect(try await responses.next(isolation: nil)?.bytes?.array == [2])
        #expect(try await responses.next(isolation: nil) == nil)
        #expect(task.cachedResponse?.bytes?.array == [1])
    }

    @Test func anUnmodifiedImageComesOnce() async throws {
        task.receivedCached(response(1))
        task.finish(.success(try #require(task.unmodified)))
        #expect(try await bytes() == [1])
        #expect(try await task.response.bytes?.array == [1])
    }

    @Test func aPlainLoadHasOneResponse() async throws {
        task.finish(.success(response(1)))
        #expect(try await bytes() == [1])
        #expect(task.cachedResponse == nil)
    }

    @Test func aFailureLeavesTheCachedImage() async throws {
        task.receivedCached(response(1))
        task.finish(.failure(ImageError(.timedOut, "late")))
        var responses = task.responses.makeAsyncIterator()
        #expect(try await responses.next(isolation: nil)?.bytes?.array == [1])
        await #expect(throws: ImageError.self) { try await task.response }
        #expect(task.cachedResponse != nil)
    }

    /// The next coordinator has the cached image too, or its replacement.
    @Test func theCachedImageOfANextCoordinatorIsNotToldTwice() async throws {
        task.receivedCached(response(1))
        task.receivedCached(response(1))
        #expect(task.unmodified?.isRefreshed == false)
        task.receivedCached(response(2))
        #expect(task.cachedResponse?.bytes?.array == [1])
        task.finish(.success(try #require(task.unmodified)))
        #expect(try await bytes() == [1, 2])
    }

    /// The same for listeners to events.
    @Test func eventsHaveTheCachedImageOfTheFirstCoordinatorOnly() async throws {
        let events = task.events
        task.receivedCached(response(1))
        task.receivedCached(response(1))
        task.receivedCached(response(2))
        task.finish(.success(try #require(task.unmodified)))
        var names: [String] = []
        for await event in events {
            switch event {
            case .cached(let image): names.append("cached \(image.bytes?.array ?? [])")
            case .end(let result):
                let image = try result.get()
                names.append("end \(image.bytes?.array ?? [])")
            default: names.append("another event")
            }
        }
        #expect(names == ["cached [1]", "end [2]"])
    }

    @Test func whatIsUnmodifiedAndNotHereIsLoadedWithoutTheOption() {
        var pending = PendingRequests(window: 2)
        var image = ImageRequest(url: "http://a.test/1")
        image.options = .refreshCached
        _ = pending.submitted(LoadRequest(token: token(1), image: image), at: at(0))
        let again = messages(pending.foundUnmodified(token(1), at: at(0)))
        #expect(again.map(\.token) == [token(1)])
        #expect(again.first?.image.options.contains(.refreshCached) == false)
    }
}
