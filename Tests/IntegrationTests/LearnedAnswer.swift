extension ImagebusClient {
    /// Loads until this client may repeat the answer by itself, and returns the repeated answer.
    func learn(_ request: ImageRequest) async throws -> ImageResponse {
        var answer: ImageResponse?
        try await pollUntil("an answer with a voucher") {
            _ = try await load(request).response
            answer = answerAtHand(to: request)
            return answer != nil
        }
        return try #require(answer)
    }
}
