import Model
import Testing
import Wire

@testable import Coordinator

/// Requests that a front end for untrusted clients may not make (SEMANTICS §14.11).
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
            ($0.wantsInfo, $0.httpClient) = (true, 7)
            $0.uploadBytes = 1 << 20
        }
        try RestrictedFront.check(plain, FrontPermission())
        try RestrictedFront.check(.load(plain))
        let probe = load { ($0.logContext.isProbe, $0.uploadBytes) = (true, 43) }
        try RestrictedFront.check(probe, FrontPermission())
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
            load { $0.logContext.isProbe = true },
            load { ($0.logContext.isProbe, $0.uploadBytes) = (true, 1_025) },
        ]
        for load in refused {
            let error = #expect(throws: ImageError.self) {
                try RestrictedFront.check(load, FrontPermission())
            }
            #expect(error?.code == .invalidRequest)
        }
    }

    private func removal(
        _ selection: EntrySelection, _ action: EntryAction = .removeSelected,
        tiers: CacheTypes = .all
    ) -> CacheCommand {
        CacheCommand(number: 1, action: action, key: "", tiers: tiers, selection: selection)
    }

    /// The only operator command is removal, and only if permitted.
    @Test func nothingIsRemovedUnlessTheOperatorPermitsIt() throws {
        let fine = [
            EntrySelection(url: "http://h/a"), EntrySelection(prefix: "http://h/"),
            EntrySelection(tag: "a"),
        ]
        var permitted = FrontPermission()
        permitted.removes = true
        for selection in fine {
            try RestrictedFront.check(.cache(removal(selection)))
            try RestrictedFront.check(removal(selection), permitted)
            let error = #expect(throws: ImageError.self) {
                try RestrictedFront.check(removal(selection), FrontPermission())
            }
            #expect(error?.code == .invalidRequest)
        }
        let beyond = [
            removal(EntrySelection()), removal(EntrySelection(olderThanSeconds: 0)),
            removal(EntrySelection(cache: "shop", url: "http://h/a")),
            removal(EntrySelection(url: "http://h/a", tag: "a")),
            removal(EntrySelection(url: "http://h/a"), tiers: .memory),
        ]
        for command in beyond {
            #expect(throws: ImageError.self) { try RestrictedFront.check(command, permitted) }
        }
        for action in [EntryAction.clear, .remove, .list, .count, .contains, .trim] {
            #expect(throws: WireError.self) {
                try RestrictedFront.check(.cache(removal(fine[0], action)))
            }
        }
    }

    /// Operator tokens permit exactly their purpose.
    @Test func tokensOfOperatorsAreAGrant() {
        let tokens = GatewayGrant(of: [.operatorTokens: "/f"])
        let both = GatewayGrant(of: [.operatorTokens: "/f", .operatorListen: ":1"])
        #expect(tokens == GatewayGrant(refreshes: true) && both.removes)
        #expect(GatewayGrant(of: [.operatorListen: ":1"]) == GatewayGrant())
        let headers = GatewayGrant(of: [.passHeaders: "Cookie, X-A"])
        #expect(FrontPermission().adding(headers).headers == ["cookie", "x-a"])
        let permission = FrontPermission().adding(tokens)
        #expect(permission.refreshes && !permission.removes)
        #expect(permission.adding(GatewayGrant()) == permission)
    }

    /// Exactly what the operator permits.
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
