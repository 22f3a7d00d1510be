import Model
import Testing

@testable import WebFront

/// Environment variables of other servers and their translation.
@Suite struct PeerSettingsTests {
    private func options(
        _ environment: [String: String], _ grammar: String = "imgproxy"
    ) throws -> [String: String] {
        let entries = try PeerSettings.translate(environment, grammar: grammar).entries
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.option.name, $0.option.value) })
    }

    @Test(
        arguments: [
            ("imgproxy", ["IMGPROXY_TTL": "60"], ["gateway-assume-fresh": "60"]),
            ("imgproxy", ["IMGPROXY_BIND": ":80"], ["gateway": ":80"]),
            ("imgproxy", ["IMGPROXY_MAX_SRC_RESOLUTION": "16.8"], ["pixel-limit": "16800000"]),
            ("imgproxy", ["IMGPROXY_WORKERS": "3"], ["decode": "3", "transform": "3"]),
            ("imgproxy", ["IMGPROXY_ONLY_PRESETS": "true"], ["gateway-only-presets": ""]),
            ("imgproxy", ["IMGPROXY_ONLY_PRESETS": "false"], [:]),
            (
                "imgproxy", ["IMGPROXY_PRESETS": "a=w:1,b=w:2"],
                ["gateway-preset-lines": "a=w:1\nb=w:2"]
            ),
            (
                "imgproxy", ["IMGPROXY_AUTO_WEBP": "1", "IMGPROXY_AUTO_AVIF": "true"],
                ["gateway-offer": "avif,webp"]
            ),
            (
                "imgproxy", ["IMGPROXY_AUTO_WEBP": "0", "IMGPROXY_AUTO_AVIF": "false"],
                ["gateway-offer": "none"]
            ),
            (
                "imgproxy", ["IMGPROXY_AVIF_SPEED": "8", "IMGPROXY_WEBP_EFFORT": "6"],
                ["gateway-effort": "avif=1,webp=6"]
            ),
            (
                "imgproxy", ["IMGPROXY_WATERMARK_DATA": "aGk="],
                ["gateway-watermark": "data:;base64,aGk="]
            ),
            ("imgproxy", ["IMGPROXY_USE_S3": "false", "IMGPROXY_USE_ETAG": "true"], [:]),
            ("imgproxy", ["IMGPROXY_SECRET": "", "SECURITY_KEY": "x", "HOME": "/"], [:]),
            ("imgproxy", ["IMGPROXY_LOG_LEVEL": "warn"], ["log-level": "warning"]),
            ("thumbor", ["ALLOW_UNSAFE_URL": "True"], ["gateway-unsigned": ""]),
            ("thumbor", ["THUMBOR_QUALITY": "70"], ["gateway-quality": "70"]),
            ("thumbor", ["MAX_PIXELS": "75e6"], [:]),
            ("thumbor", ["THUMBOR_MAX_PIXELS": "75e6"], ["pixel-limit": "75000000"]),
            (
                "thumbor", ["WEBP_QUALITY": "60", "AVIF_QUALITY": "None"],
                ["gateway-format-quality": "webp=60"]
            ),
            (
                "thumbor", ["ALLOWED_SOURCES": "['a.com', '*.b.com']"],
                [
                    "gateway-allowed-sources":
                        "http://a.com/,https://a.com/,http://*.b.com/,https://*.b.com/"
                ]
            ),
            (
                "thumbor", ["THUMBOR_LOADER": "thumbor.loaders.https_loader"],
                ["gateway-default-scheme": "https"]
            ),
            ("thumbor", ["IMAGOR_CACHE_HEADER_TTL": "168h"], ["gateway-assume-fresh": "604800"]),
            ("thumbor", ["HTTP_LOADER_DEFAULT_SCHEME": "nil"], ["gateway-default-scheme": "none"]),
            ("thumbor", ["IMAGOR_REQUEST_TIMEOUT": "1m30s"], ["gateway-timeout": "90"]),
            // Unrelated programs use such names.
            ("thumbor", ["METRICS": "x", "SENTRY_DSN_URL": "x", "STORAGE_EMULATOR": "x"], [:]),
            ("thumbor", ["LOG_LEVEL": "x", "VIPS_CONCURRENCY": "4", "AWS_REGION": "x"], [:]),
            ("iiif", ["IMGPROXY_SECRET": "x", "SECURITY_KEY": "x"], [:]),
        ] as [(String, [String: String], [String: String])])
    func variablesBecomeOptions(
        grammar: String, environment: [String: String], wanted: [String: String]
    ) throws {
        #expect(try options(environment, grammar) == wanted)
    }

    @Test(arguments: [
        ("imgproxy", "IMGPROXY_SECRET", "x", "--gateway-keys"),
        ("imgproxy", "IMGPROXY_USE_S3", "true", "loaders"),
        ("imgproxy", "IMGPROXY_USE_GCS", "1", "gs://"),
        ("imgproxy", "IMGPROXY_NO_SUCH_THING", "1", "Proto/Migration"),
        ("imgproxy", "IMGPROXY_QUALITY", "x", "an integer"),
        ("imgproxy", "IMGPROXY_AVIF_SPEED", "11", "from 0 to 10"),
        ("imgproxy", "IMGPROXY_ENFORCE_WEBP", "true", "--gateway-offer"),
        ("imgproxy", "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES", "true", "--allow-address"),
        ("imgproxy", "IMGPROXY_SALT", "73", "IMGPROXY_KEY"),
        ("thumbor", "THUMBOR_STORAGE", "thumbor_aws.storage", "--cache-dir"),
        ("thumbor", "THUMBOR_DETECTORS", "['x']", "smart"),
        ("thumbor", "THUMBOR_NO_SUCH_THING", "1", "Proto/Migration"),
        ("thumbor", "ALLOWED_SOURCES", "[re.compile(r'.*')]", "host names"),
        ("thumbor", "IMAGOR_SIGNER_TYPE", "sha256", "sha1"),
        ("thumbor", "FILE_LOADER_BASE_DIR", "/a", "--local-root"),
    ])
    func anUnsupportedOneIsRefusedByNameWithAdvice(
        grammar: String, variable: String, value: String, advice: String
    ) {
        let fault = #expect(throws: PeerSettings.InvalidVariable.self) {
            try options([variable: value], grammar)
        }
        #expect(fault?.variable == variable)
        #expect(fault?.description.contains(advice) == true, "\(fault as Any)")
    }

    @Test func keysAreOnNoCommandLine() throws {
        let pairs = try PeerSettings.translate(
            ["IMGPROXY_KEY": "6b,6c", "IMGPROXY_SALT": "73,74"], grammar: "imgproxy")
        #expect(pairs.keyLines == ["6b 73", "6c 74"] && pairs.entries.isEmpty)
        #expect(pairs.keyVariables == ["IMGPROXY_KEY", "IMGPROXY_SALT"])
        for (variable, key) in [("SECURITY_KEY", "a"), ("IMAGOR_SECRET", "b")] {
            let one = try PeerSettings.translate([variable: key], grammar: "thumbor")
            #expect(one.keyLines == [key] && one.keyVariables == [variable])
        }
        #expect(throws: PeerSettings.InvalidVariable.self) {
            try PeerSettings.translate(["IMGPROXY_KEY": "6b"], grammar: "imgproxy")
        }
    }

    /// Each setting is an option of the program.
    @Test(arguments: GatewaySetting.allCases)
    func optionsOfTheGatewayAreItsSettings(setting: GatewaySetting) {
        let lines = GatewayHelp.text(columns: 100).split(separator: "\n")
        let name = "  --\(setting.rawValue)"
        #expect(lines.contains { $0 == name || $0.hasPrefix(name + " ") })
        #expect(lines.allSatisfy { $0.count <= 100 })
    }
}
