import CommandLineInterface
import Linux
import Model
import Supervision
import TestKit
import Testing

@testable import imagebus_cli

@Suite struct ServeOptionsTests: OptionTests {
    typealias Options = ServeOptions

    @Test func oneOfEachAndOneACoreByDefault() throws {
        let kinds = try options([]).kinds
        let cores = CurrentProcess.processorCount
        #expect(
            kinds
                == [.coordinator, .cache, .download]
                + Array(repeating: .decode, count: cores)
                + Array(repeating: .transform, count: cores))
    }

    @Test func onlyOneKindInItsNumber() throws {
        #expect(
            try options(["--only", "decode", "--decode", "3"]).kinds == [.decode, .decode, .decode])
        #expect(try options(["--only", "coordinator"]).kinds == [.coordinator])
        let none = complaint(["--only", "decode", "--decode", "0"])
        #expect(none?.hasPrefix("no processes to run") == true)
        #expect(complaint(["--only", "encoder"])?.contains("not one of coordinator") == true)
    }

    @Test func aGatewayIsServedWhereItIsAskedFor() throws {
        #expect(try options([]).gateway == nil)
        let read = try options([
            "--gateway", ":8080", "--gateway-keys", "/etc/keys", "--gateway-only-presets",
        ])
        #expect(read.gateway?.place == .tcp(address: "0.0.0.0", port: 8_080))
        let child = read.children(programs: "/programs", listener: 9).last
        #expect(child?.kind == .gateway && child?.program == "/programs/imagebus-gateway")
        #expect(child?.listener == 9 && child?.pool == nil)
        #expect(
            child?.arguments.suffix(5) == [
                "--listen", "0.0.0.0:8080", "--keys", "/etc/keys", "--only-presets",
            ])
        #expect(try options(["--only", "gateway"]).gateway?.place.text == "127.0.0.1:8080")
        let alone = try options(["--only", "gateway"])
        #expect(alone.kinds == [] && alone.children(programs: "/p").map(\.kind) == [.gateway])
        // One environment shared by several services.
        let shared = [
            "HOME": "/home/a", "IMAGEBUS_GATEWAY": ":80", "IMAGEBUS_GATEWAY_UNSIGNED": "1",
        ]
        #expect(try options(["--only", "decode"], shared).gateway == nil)
        #expect(try options([], shared).gateway?.arguments == ["--unsigned"])
    }

    /// The coordinator of the same stack permits the operations of operator tokens.
    @Test func theCoordinatorIsToldWhatOperatorsMay() throws {
        let tokens = ["--gateway", ":80", "--gateway-operator-tokens", "/f"]
        for (arguments, flags) in [
            (["--gateway", ":80"], []), (tokens, ["--web-refresh"]),
            (
                tokens + ["--gateway-operator-listen", "unix:/run/o"],
                ["--web-refresh", "--web-removals"]
            ),
            (
                ["--gateway", ":80", "--gateway-pass-headers", "Cookie, X-A"],
                ["--web-headers"]
            ),
        ] as [([String], [String])] {
            let children = try options(arguments).children(programs: "/p")
            let coordinator = try #require(children.first)
            #expect(coordinator.arguments.filter { $0.hasPrefix("--web-") } == flags)
        }
    }

    @Test(arguments: [
        (["--gateway", "8080"], "'8080' is not ADDRESS:PORT"),
        (["--gateway", "::1:80"], "'::1:80' is not ADDRESS:PORT"),
        (["--gateway", ":80", "--gateway-url-limit", "1"], "--gateway-url-limit: '1' is not"),
        (["--gateway", ":80", "--gateway-grammar", "imgix"], "thumbor, imagor, iiif or weserv"),
        (["--gateway", ":80", "--gateway-idle-timeout", "0"], "'0' is not a time such as"),
        (["--gateway", ":80", "--gateway-metrics-listen", "x"], "'x' is not ADDRESS:PORT"),
        (["--gateway", "unix:a"], "'unix:a' is not ADDRESS:PORT"),
        (["--gateway", "unix:/"], "'unix:/' is not ADDRESS:PORT"),
        (
            ["--gateway", "unix:/" + String(repeating: "a", count: 107)],
            "is not ADDRESS:PORT, :PORT, [IPv6]:PORT or unix:/PATH"
        ),
        (["--gateway-unsigned"], " requires --gateway"),
    ])
    func aGatewayThatCannotBeIsAUsageError(arguments: [String], complaint part: String) {
        #expect(complaint(arguments)?.contains(part) == true, "\(complaint(arguments) ?? "none")")
    }

    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80", "http://127.0.0.1:80/"),
        (":80", "0.0.0.0:80", "http://0.0.0.0:80/"), ("[::]:80", "[::]:80", "http://[::]:80/"),
        ("[fd00::1]:80", "[fd00::1]:80", "http://[fd00::1]:80/"),
        ("unix:/run/a b:1", "unix:/run/a b:1", "unix:/run/a b:1"),
    ])
    func aPlaceIsReadAndSaid(text: String, again: String, url: String) {
        #expect(ListenPlace(text)?.text == again && ListenPlace(text)?.url(port: 80) == url)
    }

    /// Each setting is passed to the workers unchanged and under its name, from the command line
    /// and from its variable; an invalid value prevents the start.
    @Test func settingsOfDownloadsAreForTheirWorkersAlone() throws {
        let values: [DownloadSetting: String] = [
            .connectTimeout: "7s", .transferTimeout: "2m", .lowSpeed: "4K", .lowSpeedTime: "30s",
            .redirectLimit: "3", .continuationLimit: "0", .userAgent: "shop/2.1",
            .acceptStatus: "200,404", .acceptType: "image/*", .proxy: "http://10.0.0.1:3128",
        ]
        for setting in DownloadSetting.allCases {
            let (name, value) = ("--\(setting.rawValue)", try #require(values[setting]))
            let variable = OptionDefinition.environmentName(of: setting.rawValue)
            for read in [
                try options([name, value]), try options([], ["HOME": "/home/a", variable: value]),
            ] {
                for child in read.children(programs: "/opt/bin") {
                    let index = child.arguments.firstIndex(of: name)
                        .map { child.arguments[$0 + 1] }
                    #expect(index == (child.kind == .download ? value : nil), "\(name)")
                }
            }
            #expect(complaint([name, "\u{1}"])?.contains(setting.expected) == true)
        }
        let denied = try options(["--deny-address", "203.0.113.0/24", "--deny-address", "fd00::/8"])
        let download = denied.children(programs: "/opt/bin").first { $0.kind == .download }
        #expect(
            download?.arguments.suffix(4)
                == ["--deny-address", "203.0.113.0/24", "--deny-address", "fd00::/8"])
        for text in [
            "localhost", "1.2.3.4/33", "1.2.3.4/", "/8", "::/129", "127.0.0.1/8", "fd00::1/8",
        ] {
            #expect(complaint(["--deny-address", text])?.contains("address") == true, "\(text)")
        }
    }

    @Test func theConfigurationIsTheCoordinators() throws {
        let environment = ["HOME": "/home/a", "IMAGEBUS_CONFIG": "/etc/imagebus.yaml"]
        let children = try options([], environment).children(programs: "/opt/bin")
        for child in children {
            #expect(child.arguments.contains("--config") == (child.kind == .coordinator))
        }
        let decoders = try options(["--only", "decode"], environment)
        #expect(decoders.configurationFile == nil)
    }

    /// A pool only needs configuration: `serve` starts its workers, passes them their pool, and
    /// passes other workers the segments that they read.
    @Test func poolsHaveChildrenWhereTheProgramIsOurs() throws {
        var vector = WorkerPool(name: try #require(PoolName("vector")), kind: .decode)
        vector.workers = 2
        var raw = WorkerPool(name: try #require(PoolName("raw")), kind: .decode)
        raw.trust = .external
        raw.workers = 0
        var steps = WorkerPool(name: try #require(PoolName("steps")), kind: .transform)
        steps.trust = .external
        steps.workers = 0
        let all = try options(["--decode", "1", "--transform", "1"])
            .children(programs: "/p", pools: [vector, raw, steps, WorkerPool(.decode)])
        let further = all.filter { $0.pool?.text == "vector" }
        #expect(further.count == 2 && all.count == 7)
        for child in further {
            #expect(child.program == "/p/imagebus-decode" && child.kind == .decode)
            #expect(child.arguments.suffix(2) == ["--pool", "vector"])
        }
        let transform = try #require(all.first { $0.kind == .transform })
        let inputs = ["vector", "raw", "steps"].flatMap { ["--input-pool", $0] }
        #expect(transform.arguments.suffix(6) == inputs[...])
        let plain = try #require(all.first { $0.pool == PoolName(.decode) })
        #expect(!plain.arguments.contains("--pool") && !plain.arguments.contains("--input-pool"))
        let alone = try options(["--only", "coordinator"])
        #expect(alone.children(programs: "/p", pools: [vector]).count == 1)
    }

    @Test func aPoolIsServedApartLikeAKind() throws {
        let set = try options(
            ["--only", "decode", "--pool", "heavy", "--input-pools", "ftp,s3", "--decode", "2"])
        let children = set.children(programs: "/p")
        #expect(children.count == 2 && children.allSatisfy { $0.pool?.text == "heavy" })
        let place = ["--pool", "heavy", "--input-pool", "ftp", "--input-pool", "s3"]
        #expect(children[0].arguments.suffix(6) == place[...])
        let reader = try options(["--only", "transform", "--input-pools", "heavy"])
        #expect(
            reader.children(programs: "/p")[0].arguments.suffix(2) == ["--input-pool", "heavy"])
        #expect(complaint(["--pool", "heavy"])?.contains("require --only download|decode") == true)
        #expect(complaint(["--only", "cache", "--pool", "a"])?.contains("require --only") == true)
        #expect(complaint(["--only", "decode", "--pool", "A"])?.contains("pool name") == true)
        #expect(complaint(["--only", "decode", "--pool", "cache"])?.contains("another") == true)
    }

    @Test(arguments: ["download", "cache", "decode", "transform"])
    func theFiguresOfASharedEnvironmentAreTheCoordinators(kind: String) throws {
        let environment = [
            "HOME": "/home/a", "IMAGEBUS_METRICS_FILE": "/run/m.prom",
            "IMAGEBUS_METRICS_SECONDS": "5",
        ]
        #expect(try options(["--only", kind], environment).metricsFile == nil)
        let file = try options(["--only", "coordinator"], environment).metricsFile
        #expect(file?.path == "/run/m.prom")
        #expect(file?.seconds == 5)
        let message = complaint(["--only", kind, "--metrics-file", "/run/m.prom"])
        #expect(message?.hasPrefix("--metrics-file requires the coordinator:") == true)
    }

    @Test func theEnvironmentOfAContainerIsEnough() throws {
        let options = try options(
            [],
            [
                "IMAGEBUS_ONLY": "download", "IMAGEBUS_DOWNLOAD": "2",
                "IMAGEBUS_RUNTIME_DIR": "/run/bus", "IMAGEBUS_ALLOW_ADDRESS": "10.0.0.1:80",
                "IMAGEBUS_LOG_FORMAT": "json",
            ])
        #expect(options.kinds == [.download, .download])
        let children = options.children(programs: "/opt/bin")
        #expect(children.count == 2)
        #expect(children[0].program == "/opt/bin/imagebus-download")
        #expect(
            children[0].arguments == [
                "--runtime-dir", "/run/bus", "--log-level", "info", "--log-format", "json",
                "--allow-address", "10.0.0.1:80",
            ])
    }

    @Test func theCoordinatorIsToldTheLimitsOfImages() throws {
        let set = try options([
            "--pixel-limit", "50M", "--side-limit", "9000", "--body-limit", "8M", "--page-limit",
            "3", "--metadata-limit", "64K",
        ])
        let coordinator = set.children(programs: "/p").first { $0.kind == .coordinator }
        let wanted = [
            "--pixel-limit", "50000000", "--side-limit", "9000", "--body-limit", "8388608",
            "--page-limit", "3", "--metadata-limit", "65536",
        ]
        #expect(coordinator?.arguments.contains(wanted) == true)
        let message = complaint(["--body-limit", "1G"])
        #expect(
            message?.contains("a number of bytes from 1 to 268435456") == true, "\(message ?? "")")
    }

    @Test func theCoordinatorIsToldWhatBecomesOfFailures() throws {
        let set = try options(
            ["--fetch-retries", "5", "--failure-cache-seconds", "0"],
            ["HOME": "/home/a", "IMAGEBUS_FAILURE_CACHE_ENTRIES": "99"])
        let coordinator = set.children(programs: "/p").first { $0.kind == .coordinator }
        let wanted = [
            "--fetch-retries", "5", "--failure-cache-seconds", "0", "--failure-cache-entries", "99",
        ]
        #expect(coordinator?.arguments.contains(wanted) == true)
        let plain = try options([]).children(programs: "/p").first { $0.kind == .coordinator }
        #expect(plain?.arguments.contains("--fetch-retries") == false)
        #expect(complaint(["--fetch-retries", "11"])?.contains("between 0 and 10") == true)
        #expect(complaint(["--failure-cache-seconds", "-1"])?.contains("integer") == true)
    }

    @Test func theCacheIsToldItsPlaceAndLimits() throws {
        let options = try options([
            "--cache-dir", "/c", "--memory-limit", "1M", "--disk-limit", "2M", "--runtime-dir",
            "/r",
        ])
        let cache = options.children(programs: "/p").first { $0.kind == .cache }
        #expect(
            cache?.arguments.suffix(6) == [
                "--cache-dir", "/c", "--memory-limit", "1048576", "--disk-limit", "2097152",
            ])
        let decode = options.children(programs: "/p").first { $0.kind == .decode }
        #expect(
            decode?.arguments
                == ["--runtime-dir", "/r", "--log-level", "info", "--log-format", "text"])
    }

    @Test func theCoordinatorHasTheKeyOfTheCache() throws {
        let folder = TestKit.TemporaryDirectory()
        let options = try options(["--cache-dir", folder.file("a/b"), "--runtime-dir", "/r"])
        let key = SecretFile.prepare(options)
        #expect(key == folder.file("a/b/identity.key"))
        let coordinator = options.children(programs: "/p", secretFile: key)[0]
        #expect(coordinator.kind == .coordinator)
        #expect(
            coordinator.arguments.suffix(2) == ["--secret-file", folder.file("a/b/identity.key")])
        var alone = options
        alone.only = .coordinator
        #expect(SecretFile.prepare(alone) == nil)
        #expect(!coordinator.arguments.contains("--keeps-workers"))
        #expect(alone.children(programs: "/p")[0].arguments.last == "--keeps-workers")
    }

    @Test func aCoordinatorAloneHasAKeyThatLastsWhereOneIsNamed() throws {
        let folder = TestKit.TemporaryDirectory()
        let environment = [
            "HOME": "/home/a", "IMAGEBUS_SECRET_FILE": folder.file("a/b/identity.key"),
        ]
        let options = try options(["--only", "coordinator"], environment)
        let key = SecretFile.prepare(options)
        #expect(key == folder.file("a/b/identity.key"))
        #expect(RuntimeLocation.mayWrite(folder.file("a/b")))
        let arguments = options.children(programs: "/p", secretFile: key)[0].arguments
        #expect(arguments.contains(["--secret-file", folder.file("a/b/identity.key")]))
        // No other process gets it.
        #expect(try self.options(["--only", "cache"], environment).secretFile == nil)
        // A whole stack uses it instead of the one in its cache.
        #expect(SecretFile.prepare(try self.options([], environment)) == key)
    }

    @Test func withoutADirectoryTheCacheIsInMemoryOnly() throws {
        let options = try options(["--memory-only", "--runtime-dir", "/r"], [:])
        let cache = options.children(programs: "/p").first { $0.kind == .cache }
        #expect(cache?.arguments.contains("--cache-dir") == false)
        #expect(SecretFile.prepare(options) == nil)
    }

    @Test func withoutAHomeTheCacheNeedsAPlace() {
        #expect(complaint([], [:])?.contains("--cache-dir") == true)
        #expect(complaint(["--only", "decode"], [:]) == nil)
    }

    @Test(arguments: [
        ["--decode", "-1"], ["--decode", "257"], ["--decode", "two"], ["operand"],
        ["--memory-limit", "much"], ["--log-level", "loud"], ["--allow-address", "localhost:80"],
    ])
    func whatMakesNoSenseIsRefused(_ arguments: [String]) {
        #expect(complaint(arguments) != nil)
    }

    @Test func placesFollowTheRulesOfTheEnvironment() {
        func place(_ environment: [String: String], writable: Set<String> = []) -> String {
            RuntimeLocation.runtimeDirectory(
                environment: environment, userID: 7, mayWrite: writable.contains)
        }
        #expect(place(["XDG_RUNTIME_DIR": "/run/user/7"]) == "/run/user/7/imagebus")
        #expect(place([:], writable: ["/run/imagebus"]) == "/run/imagebus")
        #expect(place([:]) == "/dev/shm/imagebus-7")
        #expect(place(["XDG_RUNTIME_DIR": "relative"]) == "/dev/shm/imagebus-7")
        #expect(
            RuntimeLocation.cacheDirectory(environment: ["XDG_CACHE_HOME": "/x", "HOME": "/h"])
                == "/x/imagebus")
        #expect(
            RuntimeLocation.cacheDirectory(environment: ["HOME": "/h"]) == "/h/.cache/imagebus")
        #expect(RuntimeLocation.cacheDirectory(environment: [:]) == nil)
    }
}
