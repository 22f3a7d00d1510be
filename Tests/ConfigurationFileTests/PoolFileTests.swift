import ConfigurationFile
import Model
import TestKit
import Testing

/// Worker pools in the configuration file.
@Suite struct PoolFileTests {
    private func pools(_ text: String) throws(ConfigurationFileError) -> [WorkerPool] {
        try read("pools: {\(text)}").pools
    }

    private func problems(_ text: String) -> [String] { faults(in: "pools: {\(text)}") }

    @Test func poolsAreReadInTheOrderOfTheFile() throws {
        let read = try pools(
            """
            zebra: {kind: decode, formats-in: [gif, webp], workers: 3},
            raw: {kind: decode, trust: external, formats-in: raw, credit: 4, output-mebibytes: 64},
            effects: {kind: transform, trust: external, steps: [my.sepia, my.step]},
            download: {schemes: [https]}
            """)
        #expect(read.map(\.name.text) == ["zebra", "raw", "effects", "download"])
        #expect(read.map(\.kind) == [.decode, .decode, .transform, .download])
        #expect(read.map(\.trust) == [.own, .external, .external, .own])
        #expect(read.map(\.workers) == [3, 0, 0, 0], "serve starts no external pool")
        #expect(read[0].grant == WorkerCapabilities(formatsIn: ["gif", "webp"]))
        #expect(read[1].grant == WorkerCapabilities(formatsIn: ["raw"]))
        #expect(read[1].creditMax == 4 && read[1].outputBytesMax == 64 << 20)
        #expect(
            read[2].grant
                == WorkerCapabilities(formatsOut: ["pam"], steps: ["my.sepia", "my.step"]))
        let all = WorkerPools(read)
        #expect(
            all.workers.map { all[$0].name.text } == [
                "download", "cache", "decode", "transform", "zebra", "raw", "effects",
            ])
        #expect(all[PoolID(.download)].grant == WorkerCapabilities(schemes: ["https"]))
        #expect(all.pools(of: .decode).map { all[$0].name.text } == ["zebra", "raw", "decode"])
    }

    /// The name of the pool implies what its workers do; regardless of its position, it is tried
    /// first for vector images.
    @Test func thePoolThatDrawsNeedsNothingButItsName() throws {
        let read = try pools("second: {kind: decode}, vector: {workers: 3}")
        #expect(read[1].kind == .decode && read[1].workers == 3)
        #expect(read[1].grant == WorkerCapabilities(formatsIn: ["svg", "pdf"]))
        let order = WorkerPools(read).pools(of: .decode).map { WorkerPools(read)[$0].name.text }
        #expect(order == ["vector", "second", "decode"])
        #expect(try pools("vector: {formats-in: [svg]}")[0].grant.formatsIn == ["svg"])
        #expect(read.drawing(workers: 1).map(\.workers) == [1, 1])
        #expect([WorkerPool]().drawing(workers: 2) == [.vector(workers: 2)])
        #expect([WorkerPool]().drawing(workers: 0) == [])
    }

    @Test(arguments: [
        "vector: {kind: transform}", "vector: {trust: external, formats-in: [svg]}",
        "vector: {formats-in: [png]}",
    ])
    func thePoolThatDrawsDoesNothingElse(text: String) {
        #expect(problems(text).count == 1)
    }

    /// `serve` then starts its workers: one unless another number is given.
    @Test func aForeignPoolMayHaveACommand() throws {
        let read = try pools(
            """
            a: {kind: download, trust: external, schemes: [x], command: [/bin/a, --b, "c d"]},
            b: {kind: download, trust: external, schemes: [x], command: /bin/b, workers: 3}
            """)
        #expect(read.map(\.command) == [["/bin/a", "--b", "c d"], ["/bin/b"]])
        #expect(read.map(\.workers) == [1, 3])
    }

    @Test func withoutThemThereIsOneOfEachKind() throws {
        let all = WorkerPools(try pools(""))
        #expect(all == WorkerPools())
        #expect(all.workers.map { all[$0].name.text } == WorkerKind.workers.map(\.name))
        #expect(all.workers.allSatisfy { all[$0].grant == .all && all[$0].trust == .own })
    }

    @Test(arguments: [
        (
            "a: {}",
            "pools.a: 'kind' is missing: specify one of download, decode, transform, "
                + "cache"
        ),
        (
            "a: {kind: cache}",
            "pools.a: an additional pool of kind cache must be external: set "
                + "'trust: external', and name the pool in the caches that it serves"
        ),
        (
            "a: {kind: cache, trust: external, schemes: [x]}",
            "pools.a: 'schemes' does not apply to a pool of kind cache"
        ),
        (
            "Raw: {kind: decode}",
            "pools.Raw: a pool name must start with a lowercase letter, followed by "
                + "lowercase letters, digits and '-', at most 16 characters in total"
        ),
        ("a2345678901234567: {kind: decode}", "pools.a2345678901234567: a pool name must"),
        ("coordinator: {kind: decode}", "pools.coordinator: a pool name must"),
        ("cache: {}", "pools.cache: the built-in pool 'cache' cannot be"),
        (
            "decode: {kind: transform}",
            "pools.decode: this pool is built in, and only its grant and limits can be "
                + "changed: choose another name for a new pool"
        ),
        ("decode: {trust: external, formats-in: [raw]}", "pools.decode: this pool is built in"),
        ("decode: {workers: 2}", "pools.decode: this pool is built in"),
        (
            "a: {kind: decode, steps: [x]}",
            "pools.a: 'steps' does not apply to a pool of kind decode"
        ),
        (
            "a: {kind: decode, trust: external}",
            "pools.a: 'formats-in' is missing: an external pool ('trust: external') is "
                + "granted only what is listed"
        ),
        (
            "a: {kind: transform, trust: external}",
            "pools.a: 'steps' or 'formats-out' is missing: an external pool "
        ),
        (
            "a: {kind: transform, trust: external, steps: [my.x], formats-out: [pam]}",
            "formats-out: unknown format 'pam': expected one of jpeg, png, gif, "
        ),
        (
            "a: {kind: transform, trust: external, steps: [my.x, sepia]}",
            "pools.a: 'sepia' is not a valid step of an external pool ('trust: external'): "
                + "expected VENDOR.STEP in lowercase letters, digits, '_' and '-'"
        ),
        (
            "a: {kind: download, trust: external, schemes: [s3], workers: 1}",
            "pools.a: 'workers' requires 'command'"
        ),
        (
            "a: {kind: download, trust: external, schemes: [x], command: [python3, a.py]}",
            "pools.a: 'command' must be the absolute path of a program"
        ),
        ("a: {kind: download, command: [/bin/a]}", "pools.a: 'command' requires 'trust: external'"),
        (
            "a: {kind: decode, credit: 2}",
            "pools.a: 'credit' must be at most 1 for built-in decode workers"
        ),
        ("a: {kind: decode, credit: 0}", "credit: expected a number from 1 to 256, not '0'"),
        ("a: {kind: decode, formats-in: ['a b']}", "formats-in: expected format names"),
        (
            "a: {kind: decode, format-in: [a]}",
            "pools.a has no key 'format-in'. Did you mean 'formats-in'?"
        ),
    ])
    func faultsSayWhatToDo(text: String, expected: String) {
        let found = problems(text)
        #expect(found.contains { $0.hasPrefix("f:1: \(expected)") }, "\(found)")
    }

    /// As everywhere else, a format has one canonical name for workers, jobs and `--format`.
    @Test(arguments: [
        ("a: {kind: decode, formats-in: [png, jpg, JPEG]}", ["png", "jpeg"]),
        ("a: {kind: decode, trust: external, formats-in: [tif]}", ["tiff"]),
    ])
    func anyWordForAFormatIsRead(text: String, granted: [String]) throws {
        #expect(try pools(text).first?.grant.formatsIn == Set(granted))
    }

    /// A grant that no worker of the pool can use is an error: its jobs would fail or wait.
    @Test(arguments: [
        (
            "a: {kind: decode, formats-in: [webpp]}",
            "formats-in: built-in workers do not support the format 'webpp'. Did you "
                + "mean 'webp'? Expected one of jpeg, png, gif, tiff, webp"
        ),
        (
            "a: {kind: decode, formats-in: svg, workers: 2}",
            "formats-in: the format 'svg' is decoded by the pool 'vector' only: expected "
                + "one of jpeg, png, gif, tiff, webp"
        ),
        (
            "a: {kind: transform, formats-out: [bmp]}",
            "formats-out: built-in workers do not support the format 'bmp': expected one of "
                + "jpeg, png, gif, tiff, webp"
        ),
        (
            "a: {kind: decode, trust: external, formats-in: [tifff]}",
            "formats-in: unknown format 'tifff'. Did you mean 'tiff'? Expected "
        ),
        (
            "a: {kind: decode, formats-in: [tifff]}",
            "formats-in: built-in workers do not support the format 'tifff'. Did you "
                + "mean 'tiff'? Expected one of jpeg, "
        ),
        (
            "a: {kind: transform, steps: [resise]}",
            "steps: built-in workers do not support the step 'resise'. Did you mean "
                + "'resize'? Expected one of resize, crop, rotate, flip, resize-to"
        ),
        (
            "a: {kind: download, schemes: [ftp]}",
            "schemes: built-in workers do not support the scheme 'ftp'"
        ),
        (
            "a: {kind: decode, workers: 0}",
            "workers: expected a number from 1 to 256 (requests would wait forever "
                + "in a pool without workers), not '0'"
        ),
        (
            "a: {kind: decoder}",
            "kind: expected one of download, decode, transform, cache, not 'decoder'. Did "
                + "you mean 'decode'?"
        ),
    ])
    func whatNoWorkerHasIsOneFault(text: String, expected: String) {
        let found = problems(text)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("f:1: \(expected)") == true, "\(found)")
    }

    @Test func aNameHasItsOwnLine() {
        let text = "pools:\n  a:\n    kind: decode\n    formats-in:\n      - png\n      - jpgg\n"
        #expect(faults(in: text).map { $0.prefix(4) } == ["f:6:"])
    }

    @Test func codersArePoolsOfDecoders() {
        let profile = "a: {kind: decode}, b: {kind: download}}\nprofiles: {p: {coders: "
        #expect(problems(profile + "[decode, a, vector]}") == [])
        for name in ["b", "transform", "c"] {
            #expect(
                problems(profile + "[a, \(name)]}").first?.hasPrefix(
                    "f:2: no decode pool is named '\(name)'") == true)
        }
    }

    @Test func thereAreLimits() {
        let many = (0...WorkerPools.furtherMax).map { "p\($0): {kind: decode}" }
        #expect(
            problems(many.joined(separator: ", ")) == ["f:1: pools: at most 16 pools can be added"])
        let formats = (0...WorkerCapabilities.entriesMax).map { "f\($0)" }
        let long = "a: {kind: decode, formats-in: [\(formats.joined(separator: ", "))]}"
        #expect(problems(long) == ["f:1: formats-in: at most 64 entries are accepted"])
    }
}
