//! A program of one's own: an agent made of skills, with everything around it that `monas` has.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use model::Model;
use skill::{Agent, DefinitionError, Hook, Manifest, Options, Registry, Skill};

use crate::agents::{self, Agents};
use crate::config::Config;
use crate::error::Error;
use crate::testkit::Kit;
use crate::{models, program, tools};

/// An app without skills. Add some and run it:
///
/// ```no_run
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// # use skill::{SkillError, SkillInput, skill};
/// #[derive(Deserialize, JsonSchema, SkillInput)]
/// struct City {
///     name: String,
/// }
///
/// /// Tells the weather of a city.
/// #[skill(tags = ["weather"], examples = ["What is the weather in Riga?"])]
/// async fn weather(city: City) -> Result<String, SkillError> {
///     Ok(format!("It rains in {}.", city.name))
/// }
///
/// fn main() -> std::process::ExitCode {
///     monas::app().skill(weather).run()
/// }
/// ```
pub fn app() -> App {
    App {
        manifest: None,
        options: Options::default(),
        answerer: None,
        faulty: None,
    }
}

/// An agent to be, and the program around it.
#[derive(Debug)]
pub struct App {
    manifest: Option<Manifest>,
    options: Options,
    /// Who answers what names no skill, made for the manifest.
    answerer: Option<fn(&Manifest) -> Arc<dyn a2a::server::Agent>>,
    /// What is wrong with its skills; said when it is started.
    faulty: Option<DefinitionError>,
}

impl App {
    /// What the agent is, unless the configuration names a manifest.
    pub fn manifest(mut self, manifest: Manifest) -> Self {
        self.manifest = Some(manifest);
        self
    }

    /// With this skill.
    pub fn skill<S: Skill>(self, skill: S) -> Self {
        self.change(|skills| skills.with(skill))
    }

    /// With all of these skills.
    pub fn skills(self, more: &Registry) -> Self {
        self.change(|skills| skills.merge(more))
    }

    /// With something that sees every call pass.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.options.hooks.push(hook);
        self
    }

    /// With somebody who answers what names no skill.
    pub fn answerer(mut self, answerer: Arc<dyn a2a::server::Agent>) -> Self {
        self.options.answerer = Some(answerer);
        self
    }

    /// The same, made once it is known what the agent is: what its manifest takes away is not done in words, either.
    pub fn answerer_of(mut self, make: fn(&Manifest) -> Arc<dyn a2a::server::Agent>) -> Self {
        self.answerer = Some(make);
        self
    }

    /// With this language model, instead of the one that is configured.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.options.model = Some(model);
        self
    }

    /// Does what the command line asks for, as `monas` does; without a command it serves the agent.
    pub fn run(self) -> ExitCode {
        program::main(self)
    }

    /// Serves it from this process, on a free port and with nothing kept on disk, until it is told to stop: for
    /// tests, and for programs that call what they serve.
    pub async fn start(self) -> Result<Kit, Error> {
        let config = Kit::config();
        Kit::with(&config, self.agent(&config).await?).await
    }

    /// The agent, as the configuration wants it, with the tools of the servers it uses.
    pub async fn agent(self, config: &Config) -> Result<Agent, Error> {
        let manifest = match (&config.manifest, &self.manifest) {
            (Some(path), _) => agents::manifest(path)?,
            (None, Some(manifest)) => manifest.clone(),
            (None, None) => {
                let mut manifest = Manifest::new(config.agent.name.clone());
                manifest.description.clone_from(&config.agent.description);
                env!("CARGO_PKG_VERSION").clone_into(&mut manifest.version);
                manifest
            }
        };
        let mut options = self.usable(config)?;
        if let Some(make) = self.answerer {
            options.answerer = Some(make(&manifest));
        }
        let place = config.manifest.as_deref();
        let place = place.unwrap_or_else(|| Path::new("the manifest"));
        make(place, manifest, config.mcp_config.as_deref(), options).await
    }

    /// The agents: that one, and those of the configuration's folder, which have the same skills to choose from.
    pub async fn agents(self, config: &Config) -> Result<Agents, Error> {
        let (options, answerer) = (self.usable(config)?, self.answerer);
        let shared = Self {
            options: options.clone(),
            ..self
        };
        let mut agents = Agents::from(shared.agent(config).await?);
        let folder = config.agents.as_deref().map(agents::read).transpose()?;
        for (id, path, manifest) in folder.into_iter().flatten() {
            let mut options = options.clone();
            if let Some(make) = answerer {
                options.answerer = Some(make(&manifest));
            }
            let agent = make(&path, manifest, None, options).await?;
            agents = agents.with(&id, agent)?;
        }
        Ok(agents)
    }

    /// What agents are made with, and the language model of the configuration if there is no other.
    fn usable(&self, config: &Config) -> Result<Options, Error> {
        if let Some(fault) = &self.faulty {
            return Err(skill::CreateError::from(fault.clone()).into());
        }
        let mut options = self.options.clone();
        if options.model.is_none() {
            options.model = models::model(&config.models)?;
        }
        Ok(options)
    }

    fn change(
        mut self,
        change: impl FnOnce(Registry) -> Result<Registry, DefinitionError>,
    ) -> Self {
        // The first fault is told; what follows from it is not.
        match change(std::mem::take(&mut self.options.skills)) {
            Ok(skills) => self.options.skills = skills,
            Err(fault) => self.faulty = self.faulty.or(Some(fault)),
        }
        self
    }
}

/// An agent with the tools of the servers that its manifest names.
async fn make(
    place: &Path,
    manifest: Manifest,
    more: Option<&Path>,
    mut options: Options,
) -> Result<Agent, Error> {
    let variable = |name: &str| std::env::var(name).ok();
    tools::add(place, &manifest, more, &mut options, &variable).await?;
    Ok(Agent::create(manifest, options)?)
}
