import ImageModel
import Messages
import Testing

@testable import CoordinatorRuntime

/// What a front end that speaks for strangers may not say (SEMANTICS §14.11).
@Suite struct RestrictedFrontTests {
    private func load(_ change: (inout LoadRequest) throws -> Void) rethrows -> LoadRequest {
        var load = LoadRequest(
            token: Token(Identifier128(high: 1, low: 2)), image: ImageRequest(url: "http://h/a"))
        try change(&load)
        return load
    }

    @Test func loadsThatAreOnlyOfAnImageMayPass() throws {
        let plain = load {
            $0.image.steps = [.flip(horizontal: true, vertical: false)]
            $0.image.options = [.respectCacheControl, .progressiveLoad, .highPriority]
            ($0.wantsInfo, $0.visitor) = (true, 7)
            $0.uploadBytes = 1_024
        }
        try RestrictedFront.check(plain)
        try RestrictedFront.check(.load(plain))
        try RestrictedFront.check(.cancel(plain.token))
    }

    @Test func whatStrangersHaveNoSayInIsRefused() throws {
        let refused = [
            load { $0.uploadBytes = 1_025 }, load { $0.detach = true },
            load { $0.image.headers = [HTTPHeader(name: "Cookie", value: "a=b")] },
            load { $0.image.context.profile = "shop" }, load { $0.image.context.cache = "shop" },
            load { $0.image.context.originalCache = "shop" },
            load { $0.image.context.loader = "files" },
            load { $0.image.context.key = .text("a") },
            load { $0.image.context.tags = ["a"] },
        ]
        for load in refused {
            let error = #expect(throws: ImageError.self) { try RestrictedFront.check(load) }
            #expect(error?.code == .invalidRequest)
        }
    }
}
