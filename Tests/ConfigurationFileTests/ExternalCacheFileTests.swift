import ConfigurationFile
import Model
import TestKit
import Testing

/// External caches in the configuration file.
@Suite struct ExternalCacheFileTests {
    @Test func aCacheMayBeHeldByAForeignPool() throws {
        let pools = "pools: {p: {kind: cache, trust: external, credit: 9}}\ncaches: "
        let read = try read(
            pools
                + "{a: {pool: p}, b: {pool: p, timeout: 90}, c: , d: {of: [a, default]}, "
                + "e: {pool: p, promote: disk}, f: {pool: p, promote: none}}")
        #expect(
            read.externalCaches == [
                "a": ExternalCache(pool: "p", timeout: 250, promotion: .memory),
                "b": ExternalCache(pool: "p", timeout: 90, promotion: .memory),
                "e": ExternalCache(pool: "p", promotion: .disk),
                "f": ExternalCache(pool: "p", promotion: .none),
            ])
        #expect(read.caches == ["a", "b", "c", "d", "e", "f"] && read.cacheSettings["a"] == nil)
        #expect(read.pools[0].kind == .cache && read.pools[0].trust == .external)
        #expect(read.cacheLayout.promotes, "default is queried before the others of 'd'")
        #expect(read.cacheLayout.isExternal("a\u{1F}k") && !read.cacheLayout.isExternal("k"))
        for (text, words) in [
            ("{a: {pool: p, disk-limit: 1G}}", "only 'timeout' and 'promote'"),
            ("{a: {pool: p, read-only: /srv}}", "only 'timeout' and 'promote'"),
            ("{a: {timeout: 90}}", "'timeout' requires 'pool'"),
            ("{a: {promote: disk}}", "'promote' requires 'pool'"),
            ("{default: {promote: none}}", "'default' is always the built-in cache"),
            ("{a: {of: [default], promote: disk}}", "promote"),
            ("{a: {pool: p, promote: all}}", "promote: expected one of none, memory, disk"),
            ("{default: {pool: p}}", "'default' is always the built-in cache"),
            ("{a: {pool: q}}", "no external cache pool ('trust: external') is named 'q'"),
            ("{a: {pool: p, timeout: 0}}", "timeout: expected a number of milliseconds"),
        ] {
            let found = faults(in: pools + text)
            #expect(found.count == 1 && found[0].contains(words), "\(found)")
        }
    }

    @Test func theExampleHasOne() throws {
        let read = try ConfigurationFile.read(RepositoryRoot.file("Examples/imagebus.yaml"))
        #expect(read.externalCaches == ["shared": ExternalCache(pool: "shared")])
        #expect(read.composites["tiers"]?.caches == ["shared", "products"])
    }
}
