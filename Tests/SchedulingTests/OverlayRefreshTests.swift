import ImageModel
import Messages
import Testing

@testable import Scheduling

/// What a refresh makes of overlays, and of those who lay what it replaces over others.
struct OverlayRefreshTests {
    private static let mark = "http://marks.example/mark.png"

    private func picture(_ name: String = "a", _ options: RequestOptions = []) -> ImageRequest {
        ImageRequest.picture(name, size: 8, options).with { request in
            request.steps.append(.overlay(Overlay(url: Self.mark)))
        }
    }

    private func fetches(_ stack: Stack) -> [(held: Stack.Held, work: FetchWork)] {
        stack.held(.fetch).compactMap { held in
            guard case .fetch(let work) = held.job.work else { return nil }
            return (held, work)
        }
    }

    private func stores(_ stack: Stack, of key: String) -> [StoreWork] {
        stack.held(.store).compactMap { held in
            guard case .store(let work) = held.job.work, work.key == key else { return nil }
            return work
        }
    }

    private func body(_ stack: inout Stack, _ held: Stack.Held, etag: String) -> JobResult {
        .fetched(
            FetchedBody(
                reference: stack.block(of: held.worker), httpStatus: 200, etag: etag,
                effectiveURL: ""))
    }

    /// A transfer that nothing but an overlay needs brings the old bytes; a refresh of the same URL
    /// brings new ones meanwhile.
    @Test(arguments: [false, true])
    func whatOnlyAnOverlayNeedsIsNotStoredAfterWhatReplacedIt(isThereFirst: Bool) throws {
        var (stack, client) = Stack.staffed()
        let token = stack.load(picture("a", .fromLoaderOnly), by: client)
        let old = try #require(fetches(stack).first).held
        if isThereFirst { stack.finish(old, body(&stack, old, etag: "\"1\"")) }
        let refresh = stack.load(
            ImageRequest(url: Self.mark).with { $0.options = .refreshCached }, by: client)
        let query = try #require(stack.held(.query).first)
        stack.finish(query, stack.hit(query, etag: "\"1\""))
        let new = try #require(fetches(stack).first { $0.work.validators != nil }).held
        stack.finish(new, body(&stack, new, etag: "\"2\""))
        let weighing = try #require(stack.held(.query).first)
        stack.finish(weighing, stack.hit(weighing, length: 900, etag: "\"1\""))
        stack.finish(try #require(stack.held(.decode).last))
        let kept = stack.held(.store).compactMap { held -> String? in
            guard case .store(let work) = held.job.work, work.key == Self.mark else { return nil }
            return work.metadata.etag
        }
        #expect(kept == ["\"2\""])
        #expect(!fetches(stack).contains { $0.work.url == Self.mark }, "it has the new bytes")
        for late in stack.allHeld where late.isCancelled { stack.finish(late) }
        while let held = stack.allHeld.first {
            if case .store(let work) = held.job.work, work.key == Self.mark {
                #expect(work.metadata.etag == "\"2\"")
            }
            stack.finish(held)
        }
        #expect(stack.image(refresh) != nil && stack.image(token) != nil)
        #expect(stack.isAtRest, "\(stack)")
    }
}
