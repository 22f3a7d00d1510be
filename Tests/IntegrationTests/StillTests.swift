extension RealProcesses {
    /// Results of an animation consist of its first frame, and every reply states that.
    @Suite struct StillTests {
        private let origin = OriginServer()

        /// A PNG whose header announces three frames (PNG specification, third edition, 11.3.4.1).
        private func animatedPNG() throws -> [UInt8] {
            let chunk: [UInt8] = Array("acTL".utf8) + [0, 0, 0, 3, 0, 0, 0, 0]
            var image = try Images.quadrants().png()
            // After the signature and IHDR; without its checksum yet.
            image.insert(contentsOf: [0, 0, 0, 8] + chunk + [0, 0, 0, 0], at: 33)
            return PNGChecksums.repaired(image)
        }

        @Test func theFirstFrameIsMarkedFromTheOriginAndFromEachTier() async throws {
            origin.route("/a.gif", .bytes(Images.animatedGIF))
            try await withStack { stack in
                func expectStill(_ tier: String) throws {
                    let end = try stack.get(
                        [origin.url("/a.gif"), "--resize", "2x2", "--format", "png", "--json"])
                    let answer = try end.json()
                    #expect(answer["cacheType"]?.text == tier)
                    #expect(answer["stillOf"]?.integer == 2, "\(tier): \(end)")
                    #expect(answer["pages"]?.integer == 1)
                    #expect(answer["notes"]?.array?.first?.text == "still: one of 2 frames")
                }
                try expectStill("none")
                try expectStill("memory")
                try stack.stop()
                try stack.start()
                try expectStill("disk")
            }
        }

        @Test func whoeverAsksIsTold() async throws {
            origin.route("/a.gif", .bytes(Images.animatedGIF))
            origin.route("/a.png", .bytes(try animatedPNG()))
            try await withStack { stack in
                let converted = try stack.get([origin.url("/a.gif"), "--format", "webp"]).expect(0)
                #expect(converted.errorText == "imagebus get: still: one of 2 frames\n")
                let animation = try stack.get([origin.url("/a.gif"), "--json"]).json()
                #expect(animation["stillOf"] == .null && animation["pages"]?.integer == 2)

                let client = try stack.client()
                var request = ImageRequest(url: origin.url("/a.png"))
                let plain = try await client.load(request).response
                #expect(plain.info?.pages == 3 && plain.info?.stillOf == nil)
                request.steps = [.flip(horizontal: true, vertical: false)]
                let flipped = try await client.load(request).response
                #expect(flipped.info?.pages == 1 && flipped.info?.stillOf == 3)
            }
        }
    }
}
