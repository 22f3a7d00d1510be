import Model
import TestKit
import Testing

@testable import CommandLineInterface
@testable import imagebus_cli

/// `Proto/Migration/SDWebImage.md` covers the whole API of SDWebImage 5.21.5, and only names
/// counterparts that exist.
@Suite struct MigrationTableTests {
    private static let page = "Proto/Migration/SDWebImage.md"

    /// The rows below a heading: the names of SDWebImage, and the counterpart as written.
    private func rows(_ heading: String) -> [(theirs: [String], ours: String)] {
        DocumentTable.rows(of: "../../" + Self.page, below: heading).map { cells in
            (DocumentTable.names(in: cells[0]), cells.count == 2 ? cells[1] : "")
        }
    }

    private func expect(_ wanted: [String], below heading: String) {
        let theirs = rows(heading).flatMap(\.theirs)
        #expect(Set(wanted).subtracting(theirs) == [], "absent below \(heading)")
        #expect(Set(theirs).subtracting(wanted) == [], "unknown below \(heading)")
        #expect(theirs.count == Set(theirs).count, "twice below \(heading)")
    }

    /// In the order of their bits, 0 to 25.
    private static let options = [
        "retryFailed", "lowPriority", "progressiveLoad", "refreshCached", "continueInBackground",
        "handleCookies", "allowInvalidSSLCertificates", "highPriority", "delayPlaceholder",
        "transformAnimatedImage", "avoidAutoSetImage", "scaleDownLargeImages", "queryMemoryData",
        "queryMemoryDataSync", "queryDiskDataSync", "fromCacheOnly", "fromLoaderOnly",
        "forceTransition", "avoidDecodeImage", "decodeFirstFrameOnly", "preloadAllFrames",
        "matchAnimatedImageClass", "waitStoreCache", "transformVectorImage",
        "avoidAutoCancelImage", "waitTransition",
    ]

    @Test func everyOptionHasARow() {
        expect(Self.options, below: "Options")
        for (bit, name) in Self.options.enumerated() {
            let kebab = RequestOptions.names.first {
                $0.option.rawValue == 1 << bit
            }?.name
            #expect(kebab?.replacing("-", with: "") == name.lowercased())
        }
    }

    @Test func everyContextKeyHasARow() {
        expect(
            [
                "setImageOperationKey", "customManager", "callbackQueue", "imageCache",
                "imageLoader", "imageCoder", "imageTransformer", "imageForceDecodePolicy",
                "imageDecodeOptions", "imageScaleFactor", "imagePreserveAspectRatio",
                "imageThumbnailPixelSize", "imageTypeIdentifierHint", "imageScaleDownLimitBytes",
                "imageDecodeToHDR", "imageEncodeOptions", "queryCacheType", "storeCacheType",
                "originalQueryCacheType", "originalStoreCacheType", "originalImageCache",
                "animatedImageClass", "downloadRequestModifier", "downloadResponseModifier",
                "downloadDecryptor", "cacheKeyFilter", "cacheSerializer", "loaderCachedImage",
            ], below: "Context")
    }

    @Test func everyFieldOfAConfigurationHasARow() {
        let fields = ConfigurationTableTests.fields.values.flatMap(\.self)
        #expect(fields.count == 33)
        expect(fields, below: "Configuration")
    }

    @Test func everyErrorCodeHasARowAndItsNumber() {
        let codes = [1000, 1001, 1002, 1003, 2000, 2001, 2002, 2003, 2004]
        expect(codes.map(String.init), below: "Errors")
        for row in rows("Errors") {
            let number = row.theirs.first.flatMap(UInt16.init)
            let code = number.flatMap(ErrorCode.init)
            #expect(code.map { row.ours.hasPrefix("`ErrorCode.\($0)`") } == true, "\(row)")
        }
    }

    /// The types whose calls its wiki shows, and the prefix of its categories.
    @Test(arguments: [
        ("sd_", 35), ("SDWebImageManager.", 7), ("SDWebImageManagerDelegate.", 2),
        ("SDWebImageCombinedOperation.", 1), ("SDWebImageDownloader.", 5),
        ("SDWebImageDownloadToken.", 1), ("SDImageCache.", 18), ("SDImageCachesManager.", 1),
        ("SDImageLoadersManager.", 1), ("SDImageCodersManager.", 1), ("SDImageCoder.", 1),
        ("SDWebImagePrefetcher.", 2), ("SDAnimatedImage.", 4), ("SDAnimatedImagePlayer.", 8),
    ])
    func theCallsOfItsWikiHaveRows(prefix: String, least: Int) {
        let names = rows("Calls").flatMap(\.theirs).filter { $0.hasPrefix(prefix) }
        #expect(names.count >= least && Set(names).count == names.count, "\(names.count)")
    }

    @Test(arguments: [
        "SDWebImageCacheKeyFilter", "SDWebImageCacheSerializer", "SDWebImageOptionsProcessor",
        "SDWebImageDownloaderRequestModifier", "SDWebImageDownloaderResponseModifier",
        "SDWebImageDownloaderDecryptor", "SDImageResizingTransformer",
        "SDImageCroppingTransformer", "SDImageRoundCornerTransformer",
        "SDImageRotationTransformer", "SDImageFlippingTransformer", "SDImageTintTransformer",
        "SDImageBlurTransformer", "SDImageFilterTransformer", "SDImagePipelineTransformer",
        "SDAnimatedImage", "SDAnimatedImagePlayer", "SDAnimatedImageView",
        "SDGraphicsImageRenderer", "SDCallbackQueue", "sd_imageIndicator", "sd_imageTransition",
        "sd_imageProgress", "sd_cancelCurrentImageLoad()",
        "SDWebImageManager.loadImage(with:options:context:progress:completed:)",
        "SDWebImagePrefetcher.prefetchURLs(_:options:context:progress:completed:)",
    ])
    func whatItsWikiIsAboutHasARow(name: String) {
        #expect(rows("Calls").flatMap(\.theirs).contains(name))
    }

    private static let headings = ["Calls", "Options", "Context", "Configuration", "Errors"]

    // MARK: - Compared with the sources

    /// The keys of rules in the configuration, as its parser defines them.
    private static var ruleKeys: Set<String> {
        get throws {
            let path = "Sources/Runtime/ConfigurationFile/ConfigurationFile.swift"
            let text = try #require(FileBytes.text(RepositoryRoot.file(path)))
            let table = try #require(text.split(separator: "where Target == Rule").last)
            let rows = table.prefix { $0 != "]" }.split(separator: "\n")
            return Set(
                rows.filter { $0.contains("Row(\"") }.compactMap {
                    $0.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first
                        .map(String.init)
                })
        }
    }

    /// The effects of rules are documented: no row denies them, and none promises a key that rules
    /// don't have.
    @Test func everyKeyOfARuleIsNamedByARow() throws {
        let keys = try Self.ruleKeys
        #expect(keys.isSuperset(of: ["match", "block", "decrypt", "cookies", "tls-verify"]))
        let rules = Self.headings.flatMap { rows($0) }.filter { $0.ours.hasPrefix("a rule: ") }
            .map { DocumentTable.names(in: String($0.ours.prefix { $0 != ";" })) }
        #expect(rules.allSatisfy { !$0.isEmpty })
        let named = Set(rules.flatMap(\.self))
        #expect(named.subtracting(keys).isEmpty, "no keys of a rule")
        // These concern HTTP caching, damaged files and the address itself, for which SDWebImage
        // has no hooks.
        let own: Set = [
            "match", "ignore-cache-control", "respect-cache-control", "origin-tags", "damaged",
        ]
        #expect(keys.subtracting(named) == own, "undocumented keys")
    }

    /// Settings that a request can't have aren't documented as its options, and those that it can
    /// have are neither denied nor attributed to rules.
    @Test func optionsAndContextAreWhatARequestMaySay() throws {
        for row in rows("Options") {
            let name = try #require(row.theirs.first)
            let bit = try #require(Self.options.firstIndex(of: name))
            let option = RequestOptions(rawValue: 1 << UInt32(bit))
            let isNamed = row.ours.hasPrefix("`RequestOptions.\(name)`")
            let isRefused = RequestOptions.notSupported.contains(option)
            #expect(!isRefused || row.ours.hasPrefix("a rule: "), "\(name)")
            if RequestOptions.effective.contains(option) { #expect(isNamed, "\(name)") }
            let hasNoEffect = RequestOptions.withoutEffect.contains(option)
            #expect(isNamed || isRefused || hasNoEffect, "\(name)")
        }
        for row in rows("Context") {
            for name in row.theirs {
                let key = ContextKey.allCases.first {
                    $0.rawValue.replacing("-", with: "") == name.lowercased()
                }
                let isRefused = key.map(ContextKey.notSupported.contains) ?? false
                let hasNoEffect = key.map(ContextKey.withoutEffect.contains) ?? false
                #expect(isRefused == row.ours.hasPrefix("a rule: "), "\(name)")
                #expect(hasNoEffect == row.ours.hasPrefix("always: "), "\(name)")
                #expect((key == nil) == row.ours.hasPrefix("none"), "\(name)")
            }
        }
    }

    /// A field with a setting in `CONFIGURATION.md` isn't denied here.
    @Test func noFieldThatHasASettingIsNone() {
        let denied = rows("Configuration").filter { $0.ours.hasPrefix("none") }.flatMap(\.theirs)
        let absent = ConfigurationTableTests.fields.keys
            .flatMap { DocumentTable.rows(of: "CONFIGURATION.md", below: $0) }
            .filter { $0.count > 2 && $0[2].hasPrefix("none: ") }
            .flatMap { DocumentTable.names(in: $0[0]) }
        #expect(!denied.isEmpty)
        #expect(Set(denied).subtracting(absent) == [], "a setting exists")
    }

    /// A row that denies a replacement is right: no option, setting or member has that name.
    @Test func whatARowDeniesIsNotThere() {
        let declared = DeclaredMembers(below: "Sources/Client")
        for heading in Self.headings {
            let denied = rows(heading).filter { $0.ours.hasPrefix("none") }.flatMap(\.theirs)
            #expect(!denied.isEmpty || heading == "Errors", "\(heading)")
            for name in denied {
                #expect(Self.namesakes(of: name, in: declared) == [], "\(heading): \(name)")
            }
        }
    }

    /// The previous test finds something of each kind.
    @Test(arguments: [
        ("maxAge", "--max-age"), ("progressiveLoad", "progressive-load"),
        ("imageDecodeToHDR", "image-decode-to-hdr"),
        ("SDImageCache.clear(with:)", "OperatorClient.clear"),
    ])
    func whatIsThereIsNotDenied(name: String, namesake: String) {
        let declared = DeclaredMembers(below: "Sources/Client")
        #expect(Self.namesakes(of: name, in: declared).contains(namesake))
    }

    /// What the product has under a name of SDWebImage: options of commands, options and context
    /// keys of requests that have an effect, and members of the client's types.
    private static func namesakes(of name: String, in declared: DeclaredMembers) -> [String] {
        let words = name.prefix { $0 != "(" }.split(separator: ".")
        let member = words.last.map(String.init) ?? name
        func isMeant(_ word: String) -> Bool {
            word.replacing("-", with: "") == member.lowercased()
        }
        let ofCommands = Command.documented.flatMap(\.definitions).map(\.name).filter(isMeant)
        let options = RequestOptions.names.filter { RequestOptions.effective.contains($0.option) }
        let keys = ContextKey.allCases.filter { !ContextKey.withoutEffect.contains($0) }
        let types = [
            "ImagebusClient", "OperatorClient", "ClientConfiguration", "ImageSlot", "PrefetchTask",
        ]
        let members = types.filter { declared.declares(path: [$0, member]) }
        return ofCommands.map { "--\($0)" }
            + (options.map(\.name) + keys.map(\.rawValue)).filter(isMeant)
            + members.map { "\($0).\(member)" }
    }

    /// A row names the counterpart, or why there is none; the named items exist in the sources or
    /// as options.
    @Test func whatTheRowsNameIsThere() throws {
        let words = try SourceWords()
        let declared = DeclaredMembers(below: "Sources")
        let options = Set(
            (Command.serve.definitions + Command.prefetch.definitions).map { "--\($0.name)" })
        for heading in Self.headings {
            for row in rows(heading) {
                let names = DocumentTable.names(in: row.ours)
                let isAbsent = row.ours.hasPrefix("none")
                #expect(!isAbsent || row.ours.hasPrefix("none, because "), "\(row)")
                let isStated =
                    isAbsent || !names.isEmpty || row.ours.hasPrefix("always: ")
                #expect(isStated, "\(row)")
                for name in names where name.hasPrefix("--") {
                    #expect(options.contains(name), "no option \(name)")
                }
                for name in names where name.first?.isUppercase == true {
                    let path = name.split(separator: ".").map(String.init)
                    #expect(declared.declares(path: path), "\(row.theirs): no \(name)")
                }
                for name in names where !name.hasPrefix("--") {
                    let missing = SourceWords.words(of: name).filter { !words.all.contains($0) }
                    #expect(missing.isEmpty, "\(row.theirs): \(name): \(missing)")
                }
            }
        }
    }
}

/// The identifiers in the sources.
private struct SourceWords {
    let all: Set<String>

    init() throws {
        let found = try Tool.run([
            "grep", "-rhoE", "[A-Za-z_][A-Za-z0-9_-]*", "--include=*.swift", "--include=*.js",
            RepositoryRoot.file("Sources"),
        ])
        all = Set(String(decoding: found, as: UTF8.self).split(separator: "\n").map(String.init))
    }

    /// The words of a text in backticks; those of the file `imagebus.yaml` contain dashes.
    static func words(of text: String) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
            .map(String.init).filter { $0.count > 2 }
    }
}
