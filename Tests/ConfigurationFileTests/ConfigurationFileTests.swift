import ConfigurationFile
import Glibc
import Model
import TestKit
import Testing

/// Every key of the file, with valid and invalid values.
@Suite struct ConfigurationFileTests {
    /// A file with one rule that contains `line`.
    private static func rule(_ line: String) -> String {
        "profiles: {default: {rules: [{match: 'https://h/*', \(line)}]}}\n"
    }

    @Test(arguments: ["'avif,webp'", "[avif, webp]", "[webp, avif]"])
    func acceptIsATextOrAList(_ text: String) throws {
        let configuration = try read("presets: {a: {accept: \(text)}}")
        #expect(configuration.presets["a"]?.output.accepted == [.avif, .webp])
    }

    @Test func aSizeOfAPresetHasUnits() throws {
        let configuration = try read("presets: {a: {max-bytes: 100K}}")
        #expect(configuration.presets["a"]?.output.maxBytes == 102_400)
    }

    @Test func aRuleSaysWhatBecomesOfTransfers() throws {
        let configuration = try read(
            Self.rule(
                """
                request: {rewrite: {scheme: http, host: 'o:8', path-prefix: /v, query: a=b},
                remove-headers: Accept, require-headers: [X-A, X-B]},
                response: {status: {404: 200, any: 201}, headers: {ETag: '"e"'},
                remove-headers: [Cache-Control]},
                decrypt: [base64, {aes-256-gcm: /k}, gzip],
                credentials: {user: ann, password-file: /p, method: digest},
                client-certificate: {certificate: /c.pem, key: /c.key}, cookies: shop
                """.split(separator: "\n").joined(separator: " ")))
        let rule = try #require(configuration.profiles["default"]?.rules.first?.transfer)
        #expect(rule.rewrite?.scheme == "http" && rule.rewrite?.host == "o:8")
        #expect(rule.rewrite?.pathPrefix == "/v" && rule.rewrite?.query == "a=b")
        #expect(rule.removedHeaders == ["Accept"] && rule.requiredHeaders == ["X-A", "X-B"])
        #expect(rule.response?.statuses == [404: 200] && rule.response?.everyStatus == 201)
        #expect(rule.response?.headers == [HTTPHeader(name: "ETag", value: "\"e\"")])
        #expect(rule.response?.removedHeaders == ["Cache-Control"])
        #expect(rule.decryptors == [.base64, .aes256GCM(keyFile: "/k"), .gzip])
        #expect(rule.credential == .password(.digest, user: "ann", file: "/p"))
        #expect(rule.certificate == ClientCertificate(path: "/c.pem", keyPath: "/c.key"))
        #expect(rule.cookieJar == "shop")
        #expect(configuration.secretFiles == ["/k", "/p"])
    }

    @Test func downloadsAreSet() throws {
        let set = try read("downloads: {transfers: 6, user-agent: a/1, connect-timeout: 3s}")
            .downloads
        #expect(set.transfersMax == 6)
        #expect(set.texts == [.userAgent: "a/1", .connectTimeout: "3s"])
        #expect(
            faults(in: "downloads: {transfers: 0}").first?.contains("transfers: expected") == true)
        #expect(
            faults(in: "downloads: {redirect-limit: -1}").first?.contains("redirect-limit") == true)
        let long = String(repeating: "image/png,", count: 30) + "image/png"
        #expect(!faults(in: "downloads: {accept-type: '\(long)'}").isEmpty)
    }

    @Test func theExampleSaysWhatItSays() throws {
        let path = RepositoryRoot.file("Examples/imagebus.yaml")
        let configuration = try ConfigurationFile.read(path)
        #expect(configuration.sources?.count == 2)
        #expect(configuration.caches.isSuperset(of: ["products", "avatars", "archive", "layered"]))
        #expect(configuration.composites["layered"]?.caches == ["archive", "avatars"])
        #expect(
            configuration.presets["card"]?.steps
                == [.resize(PixelSize(width: 512, height: 512), .fill)])
        #expect(
            configuration.presets["banner"]?.steps.map(\.name)
                == ["crop", "resize", "overlay"])
        #expect(
            configuration.presets["banner"]?.output == OutputOptions(format: .jpeg, quality: 80))
        #expect(configuration.presets["icon"]?.thumbnail?.box == PixelSize(width: 64, height: 64))
        #expect(configuration.keyFilters["no-tracking"]?.dropQuery == ["utm_*", "fbclid"])
        #expect(configuration.serializers["small"] == .transcode(.webp, quality: 70))
        let profile = try #require(configuration.profiles["default"])
        #expect(profile.cache == "products" && profile.transformer == nil)
        #expect(configuration.damaged == .refuse && profile.damaged == .show)
        #expect(profile.rules.count == 5)
        #expect(profile.rules[0].sets == .retryFailed)
        #expect(profile.rules[0].clears == .lowPriority)
        #expect(profile.rules[0].blocks == [.httpStatus(404): true, .error(.badImageData): false])
        #expect(profile.rules[0].tags == ["avatars", "people"])
        #expect(profile.rules[0].takesOriginTags == true)
        #expect(profile.rules[0].staleLimits.whileRevalidate == 3_600)
        #expect(profile.rules[0].staleLimits.ifError == 172_800)
        #expect(profile.rules[1].identity == "partner-7")
        #expect(profile.rules[2].download == false)
        #expect(profile.rules[2].ignoresCacheControl == true)
        #expect(
            configuration.secretFiles == [
                "/run/secrets/image-key", "/run/secrets/origin-password",
                "/run/secrets/partner-key", "/run/secrets/s3",
            ])
        #expect(configuration.profiles["thumbs"]?.transformer == "icon")
    }

    @Test func limitsAreThoseOfServe() throws {
        let configuration = try read(
            """
            profiles:
              default:
                pixel-limit: 50M
                metadata-limit: 1M
                rules:
                  - {match: "https://h/*", side-limit: 4K, body-limit: 20M, page-limit: 100}
            """)
        let profile = try #require(configuration.profiles["default"])
        #expect(profile.limits[.pixels] == 50_000_000 && profile.limits[.metadata] == 1 << 20)
        let rule = try #require(profile.rules.first)
        #expect(rule.limits[.side] == 4_000 && rule.limits[.body] == 20 << 20)
        #expect(rule.limits[.pages] == 100 && rule.limits[.pixels] == nil)
        for text in ["0", "-1", "300M", "1.5M", "x"] {
            let problem = faults(in: Self.rule("pixel-limit: '\(text)'")).first
            #expect(problem?.contains("a number from 1 to 268435456") == true, "\(text)")
        }
    }

    @Test func cachesAreNamesOrNamesWithSettings() throws {
        #expect(try read("caches: [a, b]").caches == ["a", "b"])
        #expect(try read("caches: [a, b]").cacheSettings.isEmpty)
        let configuration = try read(
            """
            caches:
              default: {disk-limit: 2G, max-age: never, low-water: 40, write-behind: off}
              a:
              b: {memory-cache: no}
            profiles: {default: {cache: a}, p: {cache: default}}
            """)
        #expect(configuration.caches == ["a", "b"])
        let usual = try #require(configuration.cacheSettings["default"])
        #expect(usual[.diskLimit] == 2 << 30 && usual[.maxAge] == -1 && usual[.lowWater] == 40)
        #expect(usual[.writeBehind] == 0 && usual[.diskEntries] == nil)
        #expect(configuration.cacheSettings["b"]?[.memoryCache] == 0)
        #expect(configuration.cacheSettings["a"] == nil)
    }

    @Test(arguments: CacheSetting.allCases)
    func everySettingOfACacheIsAKey(setting: CacheSetting) throws {
        let text = setting.text(of: setting == .maxAge ? 90 : setting.countsBytes ? 1 << 20 : 1)
        let read = try read("caches: {default: {\(setting.rawValue): \(text)}}")
        #expect(read.cacheSettings["default"]?[setting] != nil)
        let named = faults(in: "caches: {x: {\(setting.rawValue): \(text)}}")
        #expect(named.isEmpty, "\(named)")
        let wrong = faults(in: "caches: {default: {\(setting.rawValue): so lala}}")
        #expect(wrong.count == 1 && wrong[0].contains(setting.rawValue), "\(wrong)")
    }

    @Test func aCacheMayHaveDirectoriesThatAreReadOnly() throws {
        let configuration = try read(
            """
            caches:
              default: {read-only: /srv/all}
              bundled: {read-only: [/srv/new, "/srv/old one"], disk-cache: no}
              plain: {low-water: 40}
              all: {of: [plain, bundled]}
            """)
        #expect(
            configuration.readOnly == [
                "default": ["/srv/all"], "bundled": ["/srv/new", "/srv/old one"],
            ])
        #expect(configuration.caches == ["all", "bundled", "plain"])
        #expect(configuration.cacheSettings["default"] == nil)
        #expect(configuration.cacheSettings["bundled"]?[.diskCache] == 0)
    }

    @Test func thereAreAtMostSoManyDirectories() {
        let caches = (0..<9).map { number in
            let paths = (0..<8).map { "/\(number)/\($0)" }.joined(separator: ", ")
            return "c\(number): {read-only: [\(paths)]}"
        }
        #expect(faults(in: "caches: {\(caches.prefix(8).joined(separator: ", "))}").isEmpty)
        let found = faults(in: "caches: {\(caches.joined(separator: ", "))}")
        #expect(found.first?.contains("at most 64 directories") == true, "\(found)")
    }

    @Test func aNameMayStandForSeveralCaches() throws {
        let configuration = try read(
            """
            caches:
              layered: {of: [archive, hot, default], query: concurrent, store: lowest-only}
              archive: {}
              hot: {disk-cache: no}
            profiles: {default: {cache: layered}}
            """)
        #expect(configuration.caches == ["archive", "hot", "layered"])
        #expect(
            configuration.composites == [
                "layered": CompositeCache(
                    of: ["archive", "hot", "default"],
                    policies: [.query: .concurrent, .store: .lowestOnly])
            ])
        let layout = configuration.cacheLayout
        #expect(
            layout.texts(ofStored: "layered\u{1F}k") == ["k", "hot\u{1F}k", "archive\u{1F}k"])
        #expect(configuration.cacheSettings["layered"] == nil)
    }

    @Test func theExampleOfTheReadmeIsRead() throws {
        let readme = try #require(FileBytes.text(RepositoryRoot.file("README.md")))
        let parts = readme.components(between: "```yaml\n", and: "```")
        #expect(parts.count == 1)
        for part in parts { #expect(faults(in: part) == []) }
    }

    @Test(arguments: ["", "# nothing", "caches: []", "profiles: {default: {}}", "profiles: {a: }"])
    func nothingIsSaidByTheseFiles(text: String) {
        #expect(faults(in: text) == [])
    }

    @Test(arguments: [
        ("- a", "f:1: the file must be a map of keys, such as 'sources: …'"),
        ("source: x", "f:1: the file has no key 'source'. Did you mean 'sources'?"),
        ("\nqqq: x", "f:2: the file has no key 'qqq': expected one of sources, caches, "),
        ("a: 1\na: 2", "f:2: duplicate key 'a', first in line 1"),
        (
            "sources: [h]",
            "f:1: sources: expected a pattern such as https://*.example.com/*"
        ),
        (
            "sources: [\(Array(repeating: "'http://h/'", count: 65).joined(separator: ","))]",
            "f:1: sources: at most 64 patterns with a total of 4096 bytes"
        ),
        (
            rule("headers: {user-agent: {file: /a}}"),
            "f:1: user-agent: this header is sent along redirects to other hosts"
        ),
        ("caches: [default]", "f:1: caches: expected a name"),
        ("caches: [a b]", "f:1: caches: expected a name"),
        ("caches: {a: b}", "f:1: caches.a must be a map of keys"),
        ("presets: {none: {resize: 1x1}}", "f:1: presets: 'none' is a reserved name"),
        ("presets: {a: {resize: x}}", "f:1: resize: expected WIDTHxHEIGHT"),
        ("presets: {a: {thumbnail: 1x}}", "f:1: thumbnail: expected WIDTHxHEIGHT"),
        ("presets: {a: {enlarge: true}}", "f:1: presets.a: enlarge requires resize"),
        ("presets: {a: {resize: 99999x1}}", "f:1: resize: expected WIDTHxHEIGHT"),
        ("presets: {a: {resize: 1x1, mode: fat}}", "f:1: mode: expected one of stretch, "),
        ("presets: {a: {mode: fit}}", "f:1: presets.a: mode requires resize"),
        ("presets: {a: {crop: '1,2'}}", "f:1: crop: expected LEFT,TOP,WIDTH,HEIGHT"),
        ("presets: {a: {rotate: x}}", "f:1: rotate: expected degrees"),
        ("presets: {a: {flip: x}}", "f:1: flip: expected h, v or hv"),
        ("presets: {a: {custom: denoise}}", "f:1: custom: expected VENDOR.STEP"),
        ("presets: {a: {flip: h, rotate: 90}}", "f:1: presets.a: write multiple steps as a list"),
        ("presets: {a: {thumbnail: x}}", "f:1: thumbnail: expected WIDTHxHEIGHT"),
        (
            "presets: {a: {format: bmp}}",
            "f:1: format: expected one of jpeg, png, gif, tiff, webp, avif, jxl, pam, not 'bmp'"
        ),
        ("presets: {a: {quality: 101}}", "f:1: quality: expected a number from 0 to 100"),
        ("presets: {a: {lossless: maybe}}", "f:1: lossless: expected yes or no, not 'maybe'"),
        ("presets: {a: {compression: 13}}", "f:1: compression: expected a number from 1 to 12"),
        (
            "presets: {a: {format: jpeg, near-lossless: 20}}",
            "f:1: presets.a: jpeg has no setting near-lossless: leave it out, or use webp"
        ),
        ("presets: {a: {accept: [avif, wepb]}}", "f:1: accept: expected a comma-separated list"),
        ("presets: {a: {accept: [avif, avif]}}", "f:1: accept: expected a comma-separated list"),
        ("presets: {a: {accept: []}}", "f:1: accept: expected a comma-separated list"),
        ("presets: {a: {metadata: al}}", "f:1: metadata: expected one of none, copyright, all"),
        ("presets: {a: {format: jxl, effort: 1}}", "f:1: presets.a: the effort of jxl must be"),
        ("presets: {a: {size: 1}}", "f:1: presets.a has no key 'size'. Did you mean 'resize'?"),
        ("presets: [a]", "f:1: presets: expected a map of names"),
        ("presets: {a: x}", "f:1: presets.a must be a map of keys"),
        ("key-filters: {a: {drop-query: [a b]}}", "f:1: drop-query: expected ASCII text"),
        ("key-filters: {a: {replace-host: h/x}}", "f:1: replace-host: expected a host"),
        ("key-filters: {a: {prefix: {}}}", "f:1: prefix: expected ASCII text"),
        ("key-filters: {a: {sufix: x}}", "f:1: key-filters.a has no key 'sufix'. Did you mean"),
        ("serializers: {a: {quality: 7}}", "f:1: serializers.a: 'transcode' is missing"),
        ("serializers: {a: {transcode: bmp}}", "f:1: transcode: expected one of"),
        ("serializers: {as-is: {transcode: png}}", "f:1: serializers: 'as-is' is a reserved name"),
        ("profiles: {p: {cache: x}}", "f:1: no cache is named 'x': expected one of default"),
        (
            "caches: [products]\nprofiles: {p: {cache: product}}",
            "f:2: no cache is named 'product'. Did you mean 'products'?"
        ),
        ("profiles: {p: {original-cache: x}}", "f:1: no cache is named 'x'"),
        ("profiles: {p: {loader: ftp}}", "f:1: no loader is named 'ftp'"),
        ("profiles: {p: {transformer: x}}", "f:1: no preset is named 'x'"),
        ("profiles: {p: {key-filter: x}}", "f:1: no key filter is named 'x'"),
        ("profiles: {p: {serializer: x}}", "f:1: no serializer is named 'x'"),
        ("profiles: {p: {fallback: '#12'}}", "f:1: fallback: expected none, a URL or a color"),
        ("profiles: {p: {damaged: shown}}", "f:1: damaged: expected one of refuse, show"),
        ("damaged: yes", "f:1: damaged: expected one of refuse, show"),
        ("profiles: {p: {rules: [{download: no}]}}", "f:1: 'match' is missing in a rule"),
        ("profiles: {p: {rules: [{match: x}]}}", "f:1: match: expected a pattern"),
        (
            rule("options: {low-prority: yes}"),
            "f:1: options has no key 'low-prority'. Did you mean"
        ),
        (rule("options: {low-priority: x}"), "f:1: low-priority: expected yes or no"),
        (
            rule("options: {handle-cookies: yes}"),
            "f:1: options: this version does not support handle-cookies"
        ),
        (rule("context: {image-scale-factor: 0}"), "f:1: image-scale-factor: must be a"),
        (rule("context: {image-coder: x}"), "f:1: no decode pool is named 'x'"),
        (rule("context: {custom-manager: x}"), "f:1: custom-manager: a rule cannot select"),
        (rule("context: {image-cache: x}"), "f:1: no cache is named 'x'"),
        (rule("context: {image-transformer: x}"), "f:1: no preset is named 'x'"),
        (rule("context: {query-cache-type: x}"), "f:1: query-cache-type: 'x' is not one of"),
        (rule("context: {image-thumbnail-pixel-size: x}"), "f:1: image-thumbnail-pixel-size: 'x'"),
        (rule("context: {image-cash: x}"), "f:1: context has no key 'image-cash'. Did you mean"),
        (rule("key-filter: x"), "f:1: no key filter is named 'x'"),
        (rule("serializer: x"), "f:1: no serializer is named 'x'"),
        (rule("fallback: x"), "f:1: fallback: expected"),
        (rule("transformer: x"), "f:1: no preset is named 'x'"),
        (
            rule("ignore-cache-control: x"),
            "f:1: ignore-cache-control: expected yes or no, not 'x'"
        ),
        (rule("download: x"), "f:1: download: expected yes or no, not 'x'"),
        (rule("block: {404: x}"), "f:1: 404: expected yes or no"),
        (rule("block: {999: yes}"), "f:1: block: '999' is neither an HTTP status nor an error"),
        (rule("block: {bad-image-date: yes}"), "Did you mean 'bad-image-data'?"),
        (rule("headers: {'a b': x}"), "f:1: headers: 'a b' is not a valid header name"),
        (rule("headers: {A: {file: x}}"), "f:1: file: expected an absolute path"),
        (rule("headers: {Host: h}"), "f:1: headers: Host: the Host header is always taken"),
        (rule("headers: {te: x}"), "f:1: headers: te: the loader controls message"),
        (rule("headers: {Range: 'bytes=0-9'}"), "f:1: headers: Range: the loader requests the"),
        (rule("headers: {Accept-Encoding: br}"), "f:1: headers: Accept-Encoding: the loader"),
        (rule("headers: {Proxy-A: {file: /a}}"), "f:1: headers: Proxy-A: the loader controls"),
        (rule("headers: {A: {flie: /x}}"), "f:1: A has no key 'flie'. Did you mean 'file'?"),
        (rule("headers: {A: [x]}"), "f:1: A: expected a single line of text"),
        (rule("tags: 'a b'"), "f:1: tags: expected 1 to 64 letters"),
        (
            rule("tags: [\((0..<17).map { "t\($0)" }.joined(separator: ","))]"),
            "f:1: tags: at most 16 tags"
        ),
        (rule("origin-tags: x"), "f:1: origin-tags: expected yes or no"),
        (rule("stale-if-error-max: never"), "f:1: stale-if-error-max: expected a time such as"),
        (
            rule("stale-while-revalidate-max: 9000w"),
            "f:1: stale-while-revalidate-max: expected a time such as"
        ),
        (rule("identity: 'a b'"), "f:1: identity: expected a name"),
        (rule("identity: "), "f:1: identity: expected a name of letters"),
        (rule("mach: x"), "f:1: a rule has no key 'mach'. Did you mean 'match'?"),
        (rule("request: {rewrite: {path-prefix: v}}"), "path-prefix: expected a path"),
        (rule("request: {remove-headers: Host}"), "remove-headers: expected the name of a header"),
        (rule("request: {rewrite: {scheme: ftp}}"), "scheme: expected one of http, https"),
        (rule("response: {status: {404: 99}}"), "404: expected a status from 200 to 599"),
        (rule("response: {status: {none: 200}}"), "status: 'none' is not a status"),
        (rule("response: {headers: {Content-Encoding: gzip}}"), "'Content-Encoding' cannot be set"),
        (rule("decrypt: rot13"), "decrypt: expected one of gzip, base64"),
        (rule("decrypt: [gzip, gzip, gzip, gzip, gzip]"), "decrypt: at most 4"),
        (
            rule("credentials: {user: ann}"),
            "credentials: specify user and password-file, or only bearer-file"
        ),
        (rule("credentials: {bearer-file: /a, method: basic}"), "credentials: specify user"),
        (rule("credentials: {bearer-file: hush}"), "bearer-file: expected an absolute path"),
        (
            rule("client-certificate: {certificate: /a}"),
            "client-certificate: specify certificate and key"
        ),
        (rule("cookies: 'a b'"), "cookies: expected a name"),
        ("caches: {default: {disk-limt: 2G}}", "Did you mean 'disk-limit'"),
        ("caches: {'a b': }", "'a b' is not a valid name: use 1 to 128 letters, digits"),
        ("caches: {x: {max-age: 1e}}", "max-age"),
        ("caches: {default: {low-water: 101}}", "an integer from 0 to 100"),
        ("caches: {a: {read-only: srv}}", "read-only: expected an absolute path"),
        ("caches: {a: {read-only: /srv/../etc}}", "read-only: expected an absolute path"),
        ("caches: {a: {read-only: [/a, /a]}}", "'/a' is listed twice"),
        ("caches: {a: {read-only: [/1, /2, /3, /4, /5, /6, /7, /8, /9]}}", "at most 8"),
        ("caches: {a: , x: {of: [a], read-only: /a}}", "caches.x has no key 'read-only'"),
        ("caches: {a: {read-onyl: /a}}", "Did you mean 'read-only'"),
        ("caches: {a: , x: {of: [a, b]}}", "no cache is named 'b'"),
        ("caches: {a: , x: {of: [a], query: parallel}}", "one of serial, concurrent, highest-only"),
        ("caches: {a: , x: {of: [a], disk-cache: no}}", "caches.x has no key 'disk-cache'"),
        ("caches: {a: , x: {of: [a]}, y: {of: [a, x]}}", "'x' is a composite cache"),
        ("caches: {a: , x: {of: [a, x]}}", "'x' is a composite cache"),
        ("caches: {a: , x: {of: [a, a]}}", "'a' is listed twice"),
        ("caches: {x: {of: []}}", "a list of 1 to 8 caches"),
        ("caches: {x: {of: a}}", "a list of 1 to 8 caches"),
        ("caches: {default: {of: [a]}, a: }", "'default' is a single cache"),
        (
            "caches: {a: , b: , c: , d: , e: , f: , g: , h: , i: , "
                + "x: {of: [a, b, c, d, e, f, g, h, i]}}", "a list of 1 to 8 caches"
        ),
    ])
    func whatIsWrongIsSaidWithItsLine(text: String, problem: String) {
        let problems = faults(in: text)
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
        #expect(!problems.contains { $0.contains("hush") }, "a secret")
    }

    @Test(arguments: [
        rule("options: {from-cache-only: on}"), rule("context: {image-transformer: none}"),
        rule("context: {cache-key-filter: 'text:a b'}"), rule("context: {cache-serializer: as-is}"),
        rule("key-filter: none"), rule("serializer: as-is"), rule("fallback: https://h/x.png"),
        rule("damaged: show"), "damaged: show",
        rule("fallback: '#80FF0000'"), rule("transformer: none"), rule("download: 'no'"),
        rule("block: {invalid-url: yes, tls-failed: no}"), rule("headers: {Accept: image/png}"),
        "sources: https://h/*", "presets: {a: [{flip: h}, {rotate: 90}]}",
        "presets: {a: [{custom: 'acme.denoise:strength=0.5'}]}",
        "profiles: {p: {fallback: '#12345678', loader: http, key-filter: none}}",
    ])
    func theseAreFine(text: String) {
        #expect(faults(in: text) == [])
    }

    @Test func allFaultsOfAFileAreSaidAtOnceInTheirOrder() {
        let text = """
            caches: [a b]
            profiles:
              default: {cache: nowhere}
            presets:
              x: {quality: -1}
            """
        #expect(faults(in: text).map { $0.prefix(4) } == ["f:1:", "f:3:", "f:5:"])
    }

    @Test func aFileThatIsNotThereIsSaidToBe() {
        #expect(throws: ConfigurationFileError.self) { try ConfigurationFile.read("/nowhere/f") }
        #expect(throws: ConfigurationFileError.self) { try ConfigurationFile.read("/tmp") }
    }

    @Test(arguments: [
        "sources: ['https://me:s3cret@h/*']", "sources: s3cret",
        "profiles: {p: {rules: [{match: 'https://me:s3cret@h/'}]}}",
        rule(#"headers: {Authorization: "s3cret\u0001"}"#),
        rule("headers: {A: {file: home/s3cret}}"), rule("fallback: 'me:s3cret@h'"),
        "key-filters: {a: {replace-host: 'me:s3cret@h'}}", "key-filters: {a: {prefix: 's3cret x'}}",
    ])
    func whatMayBeASecretIsNotShown(text: String) {
        let problems = faults(in: text)
        #expect(problems.count == 1, "\(problems)")
        #expect(!problems.joined().contains("s3cret"), "\(problems)")
    }

    @Test func nobodyWaitsForTheWriterOfAPipe() throws {
        let folder = TestKit.TemporaryDirectory()
        let path = folder.file("f")
        try #require(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: ConfigurationFileError.self) {
            try ConfigurationFile.read(path)
        }
        #expect(error?.lines == ["\(path): is not a regular file"])
    }

    @Test func thereAreNoMoreSecretFilesThanAreLookedAt() {
        func text(_ count: Int) -> String {
            let headers = (0..<count).map { number in
                "{match: '*', headers: {K: {file: /run/\(number)}}}"
            }
            return "profiles: {default: {rules: [\(headers.joined(separator: ", "))]}}"
        }
        #expect(faults(in: text(64)) == [])
        #expect(faults(in: text(65)) == ["f: 65 secret files exceed the limit of 64"])
    }

    @Test func differencesAreNamedAndNotShown() throws {
        let old = try read("caches: [a]\nprofiles: {p: {cache: a}}")
        let new = try read("caches: [a, b]\nprofiles: {p: {cache: b}, q: {}}")
        #expect(new.differences(from: old) == "caches, profile p, profile q")
        #expect(old.differences(from: old) == "nothing")
    }
}

extension String {
    fileprivate func components(between start: String, and end: String) -> [String] {
        ranges(of: start).compactMap { range in
            let rest = self[range.upperBound...]
            return rest.firstRange(of: end).map { String(rest[..<$0.lowerBound]) }
        }
    }
}
