def synthesize(source):
    text = f"{source['ship']} sails at {source['tide']} tide, << config.mood >>"
    return [{"sentence": text, "depth": str(source["level"])}]
