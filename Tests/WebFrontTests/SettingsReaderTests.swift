import Model
import ProcessRuntime
import Testing

@testable import WebFront
@testable import WebGrammar

/// Each field of each grammar's settings can be set by an option.
@Suite struct SettingsReaderTests {
    private func reader(
        _ values: [GatewaySetting: String], keyLines: [String] = []
    ) -> SettingsReader {
        SettingsReader(values, keyLines: keyLines) { path in
            switch path {
            case "keys": Array("6b 73\n# none\n6c 74\n".utf8)
            case "textkeys": Array("secret\n".utf8)
            case "presets": Array("small=w:10\n".utf8)
            default: throw ConfigurationError("\(path) cannot be read")
            }
        }
    }

    /// The fields of a value by name, with those of `SourceRules` individually.
    private func fields(_ value: Any, _ path: String = "") -> [String: String] {
        var fields: [String: String] = [:]
        for child in Mirror(reflecting: value).children {
            guard let label = child.label else { continue }
            if child.value is SourceRules {
                fields.merge(self.fields(child.value, "\(label).")) { $1 }
            } else {
                fields["\(path)\(label)"] = String(reflecting: child.value)
            }
        }
        return fields
    }

    private static let sources: [GatewaySetting: String] = [
        .schemes: "photos", .defaultScheme: "https", .baseURL: "https://h/",
        .urlReplacements: "a=b", .allowedSources: "https://h/",
    ]

    private func expectAllSet(_ usual: Any, _ set: Any, fixed: Set<String> = []) {
        let (usual, set) = (fields(usual), fields(set))
        #expect(!usual.isEmpty)
        for (name, value) in usual where !fixed.contains(name) {
            #expect(set[name] != value, "no option sets \(name)")
        }
    }

    @Test func eachFieldOfImgproxysSettings() throws {
        let values = Self.sources.merging([
            .keys: "keys", .signatureSize: "16", .unsigned: "", .presets: "presets",
            .onlyPresets: "", .argumentsSeparator: "_", .watermark: "https://h/m.png",
            .watermarkOpacity: "0.5",
        ]) { $1 }
        let lines = values.merging([.presetLines: "other=w_5"]) { $1 }
        #expect(throws: ConfigurationError.self) { try reader(lines).imgproxy() }
        var own = values
        own[.presets] = nil
        own[.presetLines] = "small=w_10"
        expectAllSet(
            ImgproxyGrammar.Settings(), try reader(own).imgproxy(), fixed: ["isForProperties"])
        #expect(try reader(own).imgproxy(for: .properties).isForProperties)
        // An upload has no source, but its options may have URLs.
        let uploads = try reader(own).imgproxy(for: .uploads)
        #expect(uploads.sources.allowed == nil && uploads.optionSources.allowed != nil)
        #expect(throws: Never.self) { try reader(own).grammar() }
    }

    @Test func eachFieldOfThumborsSettings() throws {
        let values = Self.sources.merging([
            .grammar: "imagor", .keys: "textkeys", .unsigned: "", .signatureAlgorithm: "sha512",
            .signatureSize: "16",
        ]) { $1 }
        expectAllSet(ThumborGrammar.Settings(), try reader(values).thumbor())
        #expect(try reader([.grammar: "imagor"]).thumbor().sources.defaultScheme == "https")
        #expect(try reader([:]).thumbor().sources.defaultScheme == "http")
        #expect(try reader([.defaultScheme: "none"]).thumbor().sources.defaultScheme == "")
    }

    @Test func eachFieldOfIIIFsSettings() throws {
        let values = Self.sources.merging([
            .iiifSource: "https://h/{id}", .iiifPrefix: "/iiif/3/",
        ]) { $1 }
        let set = try reader(values).iiif()
        expectAllSet(IIIFGrammar.Settings(source: ""), set)
        #expect(set.prefix == "iiif/3")
    }

    @Test func eachFieldOfWeservsSettings() throws {
        let values = Self.sources.merging([.unsigned: ""]) { $1 }
        expectAllSet(WeservGrammar.Settings(), try reader(values).weserv())
        #expect(try reader([:]).weserv().sources.defaultScheme == "http")
    }

    /// Its URLs have no signatures, so keys would have no effect, and nothing is served without
    /// permission.
    @Test func weservIsServedUnsignedOnly() throws {
        let closed = reader([.grammar: "weserv"])
        #expect(closed.answersNobody)
        let settings = try closed.settings()
        for target in ["/", "/?url=https://h/a.jpg"] {
            let answer = settings.verdict(on: target).answer
            #expect(answer?.status == 403 && answer?.field("X-Imagebus-Error") == "notSigned")
        }
        let open = reader([.grammar: "weserv", .unsigned: ""])
        #expect(!open.answersNobody)
        #expect(try open.settings().verdict(on: "/?url=https://h/a.jpg&w=9").plan != nil)
        let page = try open.settings().verdict(on: "/").answer
        #expect(page?.words.contains("/?url=https://example.com/photo.jpg&amp;w=300") == true)
        for setting in [GatewaySetting.keys, .postTokens] {
            #expect(throws: ConfigurationError.self) {
                try reader([.grammar: "weserv", .unsigned: "", setting: "keys"]).settings()
            }
        }
    }

    @Test func keysComeFromTheEnvironmentToo() throws {
        #expect(try reader([.keys: "keys"], keyLines: ["6d 75"]).imgproxy().keys.count == 3)
        #expect(try reader([:], keyLines: ["secret"]).thumbor().keys.count == 1)
        #expect(throws: ConfigurationError.self) { try reader([:], keyLines: ["x"]).imgproxy() }
    }

    @Test func howImagesAreWrittenIsRead() throws {
        let output = try reader([
            .quality: "70", .formatQuality: "webp=60, avif=50", .progressive: "jpeg,png",
            .effort: "avif=6,webp=0",
        ]).output()
        #expect(output.quality == 70 && output.qualities == [.webp: 60, .avif: 50])
        #expect(output.progressive == [.jpeg, .png] && output.efforts == [.avif: 6, .webp: 0])
        #expect(try reader([.offer: "none"]).offered() == [])
        #expect(try reader([.offer: "webp"]).offered() == [.webp])
        #expect(try reader([:]).offered() == nil)
    }

    @Test(
        arguments: [
            (.formatQuality, "webp"), (.formatQuality, "heic=3"), (.formatQuality, "webp=0"),
            (.progressive, "webp"), (.progressive, "x"), (.effort, "jpeg=1"), (.effort, "avif=7"),
            (.offer, "none,webp"), (.schemes, "a b"), (.schemes, "1a"), (.defaultScheme, "gopher"),
            (.watermark, "mark.png"), (.urlReplacements, "a"), (.allowedSources, "example.com"),
            (.pathPrefix, "/a?b"), (.host, "h:80"),
        ] as [(GatewaySetting, String)])
    func whatIsNoValueIsRefusedByName(setting: GatewaySetting, value: String) {
        let reader = reader([setting: value])
        let error = #expect(throws: ConfigurationError.self) {
            _ = try (reader.output(), reader.offered(), reader.imgproxy())
            _ = try (reader.pathPrefix(), reader.hosts())
        }
        #expect(error?.description.hasPrefix("--\(setting.rawValue)") == true, "\(error as Any)")
    }

    @Test func placesAreRead() throws {
        #expect(try reader([.pathPrefix: "img/"]).pathPrefix() == "/img")
        #expect(try reader([.pathPrefix: "/"]).pathPrefix() == "")
        #expect(try reader([.host: "A.example.com, b"]).hosts() == ["a.example.com", "b"])
    }
}
