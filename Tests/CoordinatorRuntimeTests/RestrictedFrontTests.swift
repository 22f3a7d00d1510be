import Configuration
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
            $0.uploadBytes = 1 << 20
        }
        try RestrictedFront.check(plain, FrontPermission())
        try RestrictedFront.check(.load(plain))
        try RestrictedFront.check(.cancel(plain.token))
    }

    @Test func whatStrangersHaveNoSayInIsRefused() throws {
        let refused = [
            load { $0.uploadBytes = (1 << 20) + 1 }, load { $0.detach = true },
            load { $0.image.headers = [HTTPHeader(name: "Cookie", value: "a=b")] },
            load { $0.image.context.profile = "shop" }, load { $0.image.context.cache = "shop" },
            load { $0.image.context.originalCache = "shop" },
            load { $0.image.context.loader = "files" },
            load { $0.image.context.key = .text("a") },
            load { $0.image.context.tags = ["a"] },
            load { $0.image.options = .refreshCached },
            load { $0.image.options = .fromLoaderOnly },
            load { $0.image.options = .retryFailed },
        ]
        for load in refused {
            let error = #expect(throws: ImageError.self) {
                try RestrictedFront.check(load, FrontPermission())
            }
            #expect(error?.code == .invalidRequest)
        }
    }

    /// What the operator permits, and nothing beside it.
    @Test func theOperatorPermitsSomeOfIt() throws {
        var permitted = FrontPermission()
        permitted.headers = ["cookie"]
        (permitted.uploadBytesMax, permitted.tagPrefix, permitted.refreshes) = (5, "shop:", true)
        let fine = load {
            $0.image.headers = [HTTPHeader(name: "Cookie", value: "a=b")]
            $0.image.context.tags = ["shop:1", "shop:"]
            $0.image.options = .refreshCached
            $0.uploadBytes = 5
        }
        try RestrictedFront.check(fine, permitted)
        let refused = [
            load { $0.uploadBytes = 6 }, load { $0.image.context.tags = ["shop:1", "sho"] },
            load { $0.image.headers = [HTTPHeader(name: "Cookie2", value: "a=b")] },
            load { $0.image.context.profile = "shop" },
        ]
        for load in refused {
            #expect(throws: ImageError.self) { try RestrictedFront.check(load, permitted) }
        }
    }
}
