import StackKit
import TestKit
import Testing

extension Conformance {
    /// Loaders: in SDWebImage these are objects, and a manager asks the last one added first.
    @Suite struct LoaderCases {
        private let gallery: Gallery
        private let folder = TestKit.TemporaryDirectory()

        init() throws { gallery = try Gallery() }

        /// Runs `body` with a stack whose loaders read two folders with one file each.
        private func withLoaders(
            _ more: String = "", _ body: (StackHarness) async throws -> Void
        ) async throws {
            let sizes = [("first", 40), ("second", 60)]
            for (name, width) in sizes {
                let image = try Images.waves(width: width, height: 30).jpeg(quality: 80)
                try Tool.run(["mkdir", "-p", folder.file(name)])
                folder.write(image, to: "\(name)/a.jpg")
            }
            let text = """
                caches: [own]
                loaders:
                  first: {kind: file, root: \(folder.file("first"))}
                  second: {kind: file, root: \(folder.file("second")), match: "file:///*.jpg"}
                  inline: {kind: data}

                """
            let path = folder.write(Array((text + more).utf8), to: "imagebus.yaml")
            try await withStack(
                ["--allow-private-networks", "--config", path], decoders: 1, body: body)
        }

        /// A manager with its own cache and its own loader: both are used, and no others.
        @Test func case013_aProfileHasItsOwnCacheAndLoader() async throws {
            try await withLoaders("profiles: {mine: {cache: own, loader: first}}\n") { stack in
                let mine = ["--context", "custom-manager=mine", "--option", "wait-store-cache"]
                let image = try stack.answer("file:///a.jpg", mine)
                #expect(image["width"]?.integer == 40)
                let key = try #require(image["key"]?.text)
                #expect(try stack.tiers(key, ["--cache", "own"]) == "all")
                #expect(try stack.tiers(key) == "none")
                #expect(try stack.answer("file:///a.jpg", mine)["cacheType"]?.text == "memory")
                let refused = try stack.answer(gallery.url("/case013.jpg"), mine)
                #expect(refused["error"]?["name"]?.text == "unsupportedScheme")
                #expect(gallery.origin.requestCount("/case013.jpg") == 0)
            }
        }

        /// The last loader that accepts a URL is asked, then the one before it, then the built-in
        /// one; a loader selected by name is the only one asked.
        @Test func case049_theLastLoaderThatTakesTheURLIsAsked() async throws {
            try await withLoaders { stack in
                let fromOrigin = ["--option", "from-loader-only"]
                func width(_ url: String, _ more: [String] = []) throws -> Int? {
                    try stack.answer(url, fromOrigin + more)["width"]?.integer
                }
                #expect(try width("file:///a.jpg") == 60)
                let first = ["--context", "image-loader=first"]
                #expect(try width("file:///a.jpg", first) == 40)
                #expect(try width(gallery.url("/case049.jpg")) == 200)
                let pixel = try Images.waves(width: 8, height: 4).png()
                let url = "data:image/png;base64," + (try Self.base64(pixel))
                let image = try stack.answer(url, ["--option", "wait-store-cache"])
                #expect(image["width"]?.integer == 8)
                let key = try #require(image["key"]?.text)
                #expect(key.hasPrefix("data:blake2b-") == (url.utf8.count > 256), "\(key)")
                #expect(try stack.answer(url)["cacheType"]?.text == "memory")
                let nobody = try stack.answer("s3://photos/a.jpg")["error"]
                #expect(nobody?["name"]?.text == "unsupportedScheme")
                #expect(nobody?["message"]?.text?.contains("a loader of kind 's3'") == true)
                let missing = try stack.answer("file:///b.jpg")["error"]
                #expect(missing?["details"]?["httpStatus"]?.text == "404")
            }
        }

        /// In SDWebImage a class replaces the operation; here a plug-in loads. Its errors have
        /// their own domain and codes.
        @Test func case026_anotherProgramLoads() async throws {
            let text = """
                pools: {photos: {kind: download, trust: external, schemes: [photos]}}
                loaders: {library: {kind: pool, pool: photos}}

                """
            let path = folder.write(Array(text.utf8), to: "imagebus.yaml")
            let picture = try Images.quadrants(width: 80, height: 60).png()
            try Tool.run(["mkdir", "-p", folder.file("library/summer")])
            folder.write(picture, to: "library/summer/a.png")
            folder.write(Array("no image".utf8), to: "library/summer/b.png")
            try await withStack(["--config", path], decoders: 1) { stack in
                let loader = try PythonExample.start(
                    "photos_loader.py",
                    [
                        "--runtime-dir", stack.runtimeDirectory, "--pool", "photos",
                        "--folder", folder.file("library"),
                    ])
                let out = folder.file("out.png")
                let url = "photos://summer/a.png"
                let words = ["--resize", "40x40", "-o", out]
                let end = try stack.get([url, "--json"] + words)
                #expect(try end.json()["width"]?.integer == 40, "\(end)")
                let script =
                    "import sys; from PIL import Image; i = Image.open(sys.argv[1]);"
                    + "print(i.format, i.size, i.getpixel((3, 3)) == i.getpixel((9, 9)))"
                let seen = try Tool.run(["python3", "-c", script, out])
                #expect(String(decoding: seen, as: UTF8.self) == "PNG (40, 30) True\n")
                #expect(try stack.answer(url, words)["cacheType"]?.text == "memory")
                for (name, domain, code) in [
                    ("none.png", "SDWebImagePhotosErrorDomain", 10_001),
                    ("notes.txt", "SDWebImagePhotosErrorDomain", 10_002),
                    ("b.png", "SDWebImageErrorDomain", 1_001),
                ] {
                    let failed = try stack.answer("photos://summer/\(name)")["error"]
                    #expect(failed?["domain"]?.text == domain, "\(name): \(failed as Any)")
                    #expect(failed?["code"]?.integer == code, "\(name): \(failed as Any)")
                }
                let result = try stack.get(["photos://summer/none.png"])
                let line = "SDWebImagePhotosErrorDomain (10001): there is no such image"
                #expect(result.errorText.contains(line) && result.exitStatus == 66, "\(result)")
                let named = ["--context", "image-loader=nobody"]
                let unknown = try stack.answer(url, named)["error"]
                #expect(unknown?["name"]?.text == "invalidRequest")
                #expect(unknown?["message"]?.text?.contains("http, library") == true)
                try loader.send(.terminate)
                #expect(try loader.end().exitStatus == 0)
            }
        }

        /// A file that has changed gives a new image, an unchanged one the same.
        @Test func aFileIsRefreshed() async throws {
            try await withLoaders { stack in
                let url = "file:///a.jpg"
                let refresh = ["--option", "refresh-cached", "--option", "wait-store-cache"]
                _ = try stack.answer(url, refresh)
                let same = try stack.answer(url, refresh)
                #expect(same["refreshed"]?.text != "yes" && same["width"]?.integer == 60)
                folder.write(
                    try Images.waves(width: 70, height: 30).jpeg(quality: 80), to: "second/a.jpg")
                _ = try stack.answer(url, refresh)
                #expect(try stack.answer(url)["width"]?.integer == 70)
            }
        }

        private static func base64(_ bytes: [UInt8]) throws -> String {
            let text = try Tool.run(["base64", "--wrap=0"], input: bytes)
            return String(decoding: text, as: UTF8.self)
        }
    }
}
